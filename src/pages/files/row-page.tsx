/** @jsxImportSource @kitajs/html */
import { PostButton, PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { trailTo } from '../addresses.ts';
import type { FrameView, Page } from '../frame.tsx';

export interface RowField {
  readonly name: string;
  readonly type: string;
  readonly text: string;
  /** The value when the form was made: a different text is a change. */
  readonly before: string;
  readonly isWritable: boolean;
  readonly problem: string | null;
}

export interface RowConflict {
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
        {view.deleteHref !== null && (
          <a class="button quiet" href={`${frame.path}?history=1&of=${view.rowId}`}>
            History
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
