/** @jsxImportSource @kitajs/html */
/**
 * One row: its cells, and plain forms to change, add or delete it. The forms call the operations of the API with the
 * version they were made from as `If-Match`, so nothing is overwritten unseen; what was typed is never lost.
 */
import type { App } from '../../app.ts';
import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { changeRows, mayChangeRows, queryRows } from '../../operations/files/datasets.ts';
import { hrefWith } from './dataset.tsx';
import { pageReply } from '../page-reply.ts';
import { cellText, type PageRow, rowsOf } from './page-rows.ts';
import { PostButton, PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { datasetTitle, trailTo } from '../addresses.ts';
import type { FrameView, Page } from '../frame.tsx';
import type { Table } from '../../tables/copy/table.ts';
import { mismatchColumn, mismatchReason } from '../../tables/edit/mismatch-text.ts';
import { parseListParameters } from '../../tables/read/list-parameters.ts';

/** Each is sent twice. */
const MAX_FIELDS = 300;
/** A form has at most a megabyte. */
const MAX_EDITED_CHARACTERS = 20_000;
/** Columns that changed beside those that were typed. */
const MAX_OTHERS = 5;

interface Present {
  readonly version: string;
  /** Null: a new one, or gone. */
  readonly row: PageRow | null;
  readonly columns: Table['columns'];
  readonly writable: ReadonlySet<string>;
}

interface Typed {
  readonly action: string;
  readonly version: string;
  /** By column: as typed, and as it was when the form was made. */
  readonly cells: ReadonlyMap<string, { readonly to: string; readonly was: string }>;
}

type Fields = Partial<RowView>;

/** The caller may read. Throws `not-found`. */
export async function rowPageReply(
  services: App,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  const mayWrite = await mayChangeRows(services, context.caller, resource);
  const present = await read(services, context, resource, mayWrite);
  const mode = modeOf(context, mayWrite);
  if (mode === 'add' || present.row !== null) return page(context, resource, present, { mode });
  throw rowNotFound(context);
}

/** The caller may write, and the dataset can be written. */
export async function rowFormReply(
  services: App,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  const typed = typedOf(await context.form());
  const form = { services, context, resource, typed };
  try {
    switch (typed.action) {
      case 'create':
        return await create(form);
      case 'update':
        return await update(form);
      case 'delete':
        return await remove(form);
      default:
        throw new AppError('bad-request', 'The form says neither create, update nor delete');
    }
  } catch (error) {
    if (!(error instanceof AppError) || !SHOWN.has(error.code)) throw error;
    return refused(form, error);
  }
}

interface Form {
  readonly services: App;
  readonly context: Context;
  readonly resource: Resource;
  readonly typed: Typed;
}

/** The form stays open with what was typed. */
const SHOWN: ReadonlySet<string> = new Set([
  'schema-mismatch',
  'precondition-failed',
  'locked',
  'conflict',
  'no-space',
]);

async function create(form: Form): Promise<Reply> {
  const { context, resource, typed } = form;
  const values = [...typed.cells]
    .filter(([, { to }]) => to !== '')
    .map(([name, { to }]) => [name, to]);
  const { rowIds, version } = await change(form, 'POST', {
    action: 'create',
    data: [Object.fromEntries(values)],
  });
  const id = String(rowIds[0]);
  return done(context, resource, {
    rowId: id,
    notice: `Row ${id} was added at the end of ${datasetTitle(resource)}.`,
    undo: {
      href: hrefWith(context, { row: id, delete: null }),
      fields: [
        ['action', 'delete'],
        ['version', version],
      ],
    },
  });
}

async function update(form: Form): Promise<Reply> {
  const { context, resource, typed } = form;
  const id = rowIdOf(context);
  const changed = [...typed.cells].filter(([, { to, was }]) => to !== was);
  const values = Object.fromEntries(changed.map(([name, { to }]) => [name, to]));
  const { version } = await change(form, 'PATCH', {
    action: 'update',
    data: { ...values, _row_id: id },
  });
  if (changed.length === 0) {
    return done(context, resource, { rowId: id, notice: 'Nothing was changed.', undo: null });
  }
  const names = changed.map(([name]) => name).join(', ');
  return done(context, resource, {
    rowId: id,
    notice: `${names} of row ${id} ${changed.length === 1 ? 'was' : 'were'} changed.`,
    undo: {
      href: hrefWith(context, { delete: null }),
      fields: [
        ['action', 'update'],
        ['version', version],
        ...changed.flatMap(([name, { to, was }]): [string, string][] => [
          [`to:${name}`, was],
          [`was:${name}`, to],
        ]),
      ],
    },
  });
}

async function remove(form: Form): Promise<Reply> {
  const { services, context, resource } = form;
  const id = rowIdOf(context);
  const { row, writable } = await read(services, context, resource, true);
  await change(form, 'DELETE', { action: 'delete', data: { _row_id: id } });
  const cells = [...writable]
    .slice(0, MAX_FIELDS)
    .map((name) => [name, cellText(row ?? {}, name)] as const);
  const isShort = writable.size <= MAX_FIELDS && cells.every(([, text]) => isEditable(text));
  return done(context, resource, {
    rowId: id,
    notice: `Row ${id} was deleted.${isShort ? ' Undo adds it again, at the end and with a new number.' : ''}`,
    undo: !isShort
      ? null
      : {
          href: hrefWith(context, { row: 'new', delete: null }),
          fields: [
            ['action', 'create'],
            ...cells.map(([name, text]): [string, string] => [`to:${name}`, text]),
          ],
        },
  });
}

function change({ services, context, resource, typed }: Form, method: string, body: object) {
  return changeRows(services, context.user, context.origin, resource, {
    method,
    body,
    ifMatch: method === 'POST' ? null : [typed.version],
  });
}

async function refused(
  { services, context, resource, typed }: Form,
  error: AppError,
): Promise<Reply> {
  const present = await read(services, context, resource, true);
  const isConflict = error.code === 'precondition-failed';
  const isNew = typed.action === 'create';
  const isDeletion = typed.action === 'delete';
  if (!isNew && present.row === null) throw rowNotFound(context);
  const wrong = error.code === 'schema-mismatch' ? mismatchColumn(error.message) : null;
  const text = isConflict
    ? `${datasetTitle(resource)} was changed by someone else meanwhile; nothing was ${isDeletion ? 'deleted' : 'saved'}.`
    : mismatchReason(error.message);
  return page(
    context,
    resource,
    present,
    {
      mode: isNew ? 'add' : isDeletion ? 'delete' : 'edit',
      problem: wrong === null ? text : `${wrong}: ${text}`,
      conflicts: isConflict && !isDeletion ? conflictsOf(present, typed) : [],
      fields: fieldsOf(present).map((field) => {
        const cell = typed.cells.get(field.name);
        const problem = field.name === wrong ? text : null;
        return cell === undefined || cell.to === cell.was
          ? { ...field, problem }
          : { ...field, text: cell.to, problem };
      }),
    },
    error.status,
  );
}

function conflictsOf({ row, columns }: Present, { cells }: Typed): RowConflict[] {
  if (row === null) return [];
  const all = columns.flatMap(({ name }): RowConflict[] => {
    const cell = cells.get(name);
    if (cell === undefined) return [];
    const present = normalised(cellText(row, name));
    const typed = cell.to === cell.was ? null : cell.to;
    return typed === null && present === cell.was
      ? []
      : [{ name, before: cell.was, present, typed }];
  });
  const others = all.filter(({ typed }) => typed === null).slice(0, MAX_OTHERS);
  return [...all.filter(({ typed }) => typed !== null), ...others];
}

async function read(
  services: App,
  context: Context,
  resource: Resource,
  mayWrite: boolean,
): Promise<Present> {
  const isNew = context.queryValue('row') === 'new';
  const id = isNew ? '0' : rowIdOf(context);
  const parameters = parseListParameters(
    new URLSearchParams({ filter: `{"_row_id":${id}}`, limit: '1' }),
  );
  const { signal } = context.request;
  return queryRows(services, resource, parameters, 'json', async ({ table, prepared }) => {
    const answer = await services.reading.run(table, prepared, { signal });
    const [row = null] = await rowsOf(answer);
    const writable = new Set(mayWrite ? table.writableColumns.map(({ name }) => name) : []);
    return { version: answer.version, row, columns: table.columns, writable };
  });
}

function page(
  context: Context,
  resource: Resource,
  present: Present,
  fields: Fields & Pick<RowView, 'mode'>,
  status = 200,
): Reply {
  const { columns, writable } = present;
  const isNew = fields.mode === 'add';
  const view: RowView = {
    ...addressesOf(context, resource),
    version: present.version,
    fields: fieldsOf(present).filter(({ isWritable }) => isWritable || !isNew),
    hidden: Math.max(0, columns.length - MAX_FIELDS),
    problem: null,
    notice: null,
    conflicts: [],
    undo: null,
    deleteHref: writable.size > 0 && !isNew ? hrefWith(context, { delete: '1', done: null }) : null,
    ...fields,
  };
  return pageReply(context, rowPage, view, { status });
}

function done(
  context: Context,
  resource: Resource,
  fields: Pick<RowView, 'rowId' | 'notice' | 'undo'>,
): Reply {
  const view: RowView = {
    ...addressesOf(context, resource),
    mode: 'done',
    version: '',
    fields: [],
    hidden: 0,
    problem: null,
    conflicts: [],
    deleteHref: null,
    ...fields,
  };
  return pageReply(context, rowPage, view);
}

function addressesOf(
  context: Context,
  resource: Resource,
): Pick<RowView, 'name' | 'file' | 'rowId' | 'backHref' | 'rowHref'> {
  const row = context.queryValue('row');
  return {
    name: resource.canonical,
    file: datasetTitle(resource),
    rowId: row === 'new' ? null : row,
    backHref: hrefWith(context, { row: null, delete: null }),
    rowHref: hrefWith(context, { delete: null }),
  };
}

function fieldsOf({ row, columns, writable }: Present): RowField[] {
  return columns.slice(0, MAX_FIELDS).map(({ name, type }) => {
    const text = row === null ? '' : normalised(cellText(row, name));
    const isWritable = writable.has(name) && isEditable(text);
    return { name, type, text, before: text, isWritable, problem: null };
  });
}

function modeOf(context: Context, mayWrite: boolean): RowView['mode'] {
  if (!mayWrite) return 'read';
  if (context.queryValue('row') === 'new') return 'add';
  return context.queryValue('delete') === null ? 'edit' : 'delete';
}

function typedOf(fields: ReadonlyMap<string, string> | null): Typed {
  const cells = new Map<string, { to: string; was: string }>();
  for (const [name, value] of fields ?? []) {
    if (!name.startsWith('to:')) continue;
    // Browsers send names and line breaks of a form with CR LF.
    const column = normalised(name.slice(3));
    cells.set(column, {
      to: normalised(value),
      was: normalised(fields?.get(`was:${name.slice(3)}`) ?? ''),
    });
  }
  return { action: fields?.get('action') ?? '', version: fields?.get('version') ?? '', cells };
}

function rowIdOf(context: Context): string {
  const id = context.queryValue('row') ?? '';
  if (/^[1-9][0-9]{0,14}$/.test(id)) return id;
  throw rowNotFound(context);
}

function rowNotFound(context: Context): AppError {
  return new AppError('not-found', `Row ${context.queryValue('row') ?? ''} not found`);
}

function isEditable(text: string): boolean {
  return text.length <= MAX_EDITED_CHARACTERS;
}

function normalised(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

interface RowField {
  readonly name: string;
  readonly type: string;
  readonly text: string;
  /** The value when the form was made: a different text is a change. */
  readonly before: string;
  readonly isWritable: boolean;
  readonly problem: string | null;
}

interface RowConflict {
  readonly name: string;
  readonly before: string;
  readonly present: string;
  readonly typed: string | null;
}

interface RowUndo {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly href: string;
}

export interface RowView {
  readonly name: string;
  readonly file: string;
  readonly mode: 'read' | 'edit' | 'add' | 'delete' | 'done';
  readonly rowId: string | null;
  readonly version: string;
  readonly fields: readonly RowField[];
  /** Columns without a field: more than one form may have. */
  readonly hidden: number;
  readonly problem: string | null;
  readonly notice: string | null;
  /** For each cell the value of the form, the value now and what was typed. */
  readonly conflicts: readonly RowConflict[];
  readonly undo: RowUndo | null;
  readonly backHref: string;
  readonly rowHref: string;
  readonly deleteHref: string | null;
}

export const rowPage: Page<RowView> = {
  name: 'row',
  layout: 'wide',
  title: (view) => titleOf(view),
  styles: ['grid.css'],
  trail: ({ name, backHref }) => [
    ...trailTo(name),
    { label: name.slice(name.lastIndexOf('/') + 1), href: backHref },
  ],
  content: (view, frame) => (
    <div class="row-page">
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.conflicts.length > 0 && <Conflicts view={view} />}
      <Body view={view} frame={frame} />
    </div>
  ),
};

function titleOf({ mode, rowId, file }: RowView): string {
  if (mode === 'add' || rowId === null) return `New row of ${file}`;
  return mode === 'delete' ? `Delete row ${rowId} of ${file}?` : `Row ${rowId} of ${file}`;
}

function Body({ view, frame }: { view: RowView; frame: FrameView }) {
  switch (view.mode) {
    case 'done':
      return <Done view={view} frame={frame} />;
    case 'delete':
      return <Delete view={view} frame={frame} />;
    case 'read':
      return <Read view={view} />;
    case 'add':
    case 'edit':
      return <Edit view={view} frame={frame} />;
  }
}

function Edit({ view, frame }: { view: RowView; frame: FrameView }) {
  const isNew = view.mode === 'add';
  return (
    <PostForm class="row-form" frame={frame} to={view.rowHref} fields={[['version', view.version]]}>
      <dl class="row-fields">
        {view.fields.map((field, index) => (
          <Field field={field} id={`cell-${index}`} />
        ))}
      </dl>
      <Hidden view={view} />
      <p class="actions">
        <button type="submit" name="action" value={isNew ? 'create' : 'update'}>
          {isNew ? 'Add the row' : view.conflicts.length > 0 ? 'Overwrite with mine' : 'Save'}
        </button>
        {view.conflicts.length > 0 && (
          <a class="button quiet" href={view.rowHref}>
            Reload, without what I typed
          </a>
        )}
        <a class="button quiet" href={view.backHref}>
          Cancel
        </a>
        {view.deleteHref !== null && (
          <a class="button quiet danger" href={view.deleteHref}>
            Delete this row…
          </a>
        )}
      </p>
    </PostForm>
  );
}

function Field({ field, id }: { field: RowField; id: string }) {
  const { name, type, text, problem, isWritable } = field;
  return (
    <>
      <dt>
        {isWritable ? (
          <label for={id} safe>
            {name}
          </label>
        ) : (
          <span safe>{name}</span>
        )}
        <small safe>{` ${type}`}</small>
      </dt>
      <dd>
        {isWritable ? <Input field={field} id={id} /> : <span safe>{text}</span>}
        {problem !== null && (
          <p class="problem" id={`${id}-problem`} safe>
            {problem}
          </p>
        )}
      </dd>
    </>
  );
}

function Input({ field, id }: { field: RowField; id: string }) {
  const { name, type, text, before, problem } = field;
  const common = {
    id,
    name: `to:${name}`,
    'aria-invalid': problem === null ? undefined : ('true' as const),
    'aria-describedby': problem === null ? undefined : `${id}-problem`,
  };
  const was = <input type="hidden" name={`was:${name}`} value={before} />;
  if (type === 'boolean' && /^(?:true|false|)$/.test(text)) {
    return (
      <>
        {was}
        <select {...common}>
          {['', 'true', 'false'].map((value) => (
            <option value={value} selected={value === text} safe>
              {value}
            </option>
          ))}
        </select>
      </>
    );
  }
  if (text.includes('\n') || text.length > 60) {
    return (
      <>
        {was}
        <textarea {...common} rows="4" spellcheck="false" safe>
          {/* HTML drops a line break directly after the tag. */}
          {`\n${text}`}
        </textarea>
      </>
    );
  }
  const isNumber = type === 'integer' || type === 'number';
  return (
    <>
      {was}
      <input
        {...common}
        type="text"
        value={text}
        inputmode={isNumber ? 'decimal' : undefined}
        autocomplete="off"
        spellcheck="false"
      />
    </>
  );
}

function Read({ view }: { view: RowView }) {
  return (
    <>
      <Texts view={view} />
      <p class="actions">
        <a class="button quiet" href={view.backHref}>
          Back to the rows
        </a>
      </p>
    </>
  );
}

function Texts({ view }: { view: RowView }) {
  return (
    <>
      <dl class="row-fields">
        {view.fields.map(({ name, type, text }) => (
          <>
            <dt>
              <span safe>{name}</span>
              <small safe>{` ${type}`}</small>
            </dt>
            <dd>{text === '' ? <span class="fine">blank</span> : <span safe>{text}</span>}</dd>
          </>
        ))}
      </dl>
      <Hidden view={view} />
    </>
  );
}

function Hidden({ view }: { view: RowView }) {
  if (view.hidden === 0) return '';
  return (
    <p class="fine" safe>
      {`The first ${view.fields.length} columns of ${view.fields.length + view.hidden}.`}
    </p>
  );
}

function Delete({ view, frame }: { view: RowView; frame: FrameView }) {
  return (
    <>
      <Texts view={view} />
      <PostForm frame={frame} to={view.rowHref} fields={[['version', view.version]]}>
        <p class="actions">
          <button class="danger" type="submit" name="action" value="delete" safe>
            {`Delete row ${view.rowId ?? ''} of ${view.file}`}
          </button>
          <a class="button quiet" href={view.rowHref}>
            Cancel
          </a>
        </p>
      </PostForm>
    </>
  );
}

function Done({ view, frame }: { view: RowView; frame: FrameView }) {
  return (
    <div class="actions">
      <a class="button" href={view.backHref}>
        Back to the rows
      </a>
      {view.undo !== null && (
        <PostButton
          frame={frame}
          to={view.undo.href}
          fields={view.undo.fields}
          label="Undo"
          look="quiet"
        />
      )}
    </div>
  );
}

function Conflicts({ view }: { view: RowView }) {
  const isTyped = view.conflicts.some(({ typed }) => typed !== null);
  return (
    <div class="scroll" tabindex="0" role="region" aria-label="What is different">
      <table>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">You saw</th>
            <th scope="col">In the file now</th>
            {isTyped && <th scope="col">You typed</th>}
          </tr>
        </thead>
        <tbody>
          {view.conflicts.map(({ name, before, present, typed }) => (
            <tr>
              <th scope="row" safe>
                {name}
              </th>
              <td safe>{before}</td>
              <td safe>{present}</td>
              {isTyped && <td safe>{typed ?? ''}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
