/**
 * One row: its cells, and plain forms to change, add or delete it. The forms call the operations of the API with the
 * version they were made from as `If-Match`, so nothing is overwritten unseen; what was typed is never lost.
 */
import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { changeRows, mayChangeRows, queryRows } from '../../operations/files/datasets.ts';
import { hrefWith } from './dataset.ts';
import { pageReply } from '../page-reply.ts';
import { cellText, type PageRow, rowsOf } from './page-rows.ts';
import { datasetTitle } from '../addresses.ts';
import type { Table } from '../../tables/copy/table.ts';
import { mismatchColumn, mismatchReason } from '../../tables/edit/mismatch-text.ts';
import { parseListParameters } from '../../tables/read/list-parameters.ts';
import { type RowField, type RowConflict, type RowView, rowPage } from './row-page.tsx';

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
export async function rowPageReply(context: Context, resource: Resource): Promise<Reply> {
  const mayWrite = await mayChangeRows(context.services, context.caller, resource);
  const present = await read(context, resource, mayWrite);
  const mode = modeOf(context, mayWrite);
  if (mode === 'add' || present.row !== null) return page(context, resource, present, { mode });
  throw rowNotFound(context);
}

/** The caller may write, and the dataset can be written. */
export async function rowFormReply(context: Context, resource: Resource): Promise<Reply> {
  const typed = typedOf(await context.form());
  const form = { context, resource, typed };
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
  const { context, resource } = form;
  const id = rowIdOf(context);
  const { row, writable } = await read(context, resource, true);
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

function change({ context, resource, typed }: Form, method: string, body: object) {
  return changeRows(context.services, context.user, context.origin, resource, {
    method,
    body,
    ifMatch: method === 'POST' ? null : [typed.version],
  });
}

async function refused({ context, resource, typed }: Form, error: AppError): Promise<Reply> {
  const present = await read(context, resource, true);
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

async function read(context: Context, resource: Resource, mayWrite: boolean): Promise<Present> {
  const { services } = context;
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
