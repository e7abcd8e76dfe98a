/** @jsxImportSource @kitajs/html */
/** What was changed in a dataset, by whom, cell by cell, each with a button that takes it back. Works without script. */
import { AppError } from '../../base/errors.ts';
import { encodePath } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { requireAccess } from '../../operations/access.ts';
import {
  listChanges,
  type ShownChange,
  type ShownRow,
  undoChanges,
} from '../../operations/files/history.ts';
import { requireWritable, requireWritableContent } from '../../operations/files/datasets.ts';
import { requireChangesAllowed } from '../../api/datasets.ts';
import { datasetTitle, trailTo } from '../addresses.ts';
import { idOf } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { UtcTime } from '../parts/values.tsx';

const CHANGES = 25;
const SHOWN_ROWS = 5;
const SHOWN_CELLS = 12;
const MAX_TEXT = 120;

interface HistoryView {
  readonly name: string;
  readonly title: string;
  readonly page: string;
  /** Of this row alone. */
  readonly rowId: number | null;
  readonly user: string;
  readonly changes: readonly ShownChange[];
  readonly olderHref: string | null;
  readonly done: string | null;
  /** Why a change was not taken back, and which. */
  readonly refusal: {
    readonly change: number;
    readonly text: string;
    readonly isPartial: boolean;
  } | null;
}

/** For a caller who may read the dataset. Throws `permission-denied` for who may not write it. */
export async function historyPageReply(
  context: Context,
  resource: Resource,
  refusal: HistoryView['refusal'] = null,
  status = 200,
): Promise<Reply> {
  const { services, caller, origin } = context;
  const name = resource.canonical;
  await requireAccess(services, caller, origin, { name, resource, verb: 'write' });
  const number = (parameter: string): number | null => {
    const text = context.queryValue(parameter) ?? '';
    return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
  };
  const rowId = number('of');
  const before = number('cursor');
  const user = (context.queryValue('user') ?? '').trim();
  const page = `/ui/${encodePath(name)}/`;
  const filter = {
    ...(rowId !== null && { rowId }),
    ...(before !== null && { before }),
    ...(user !== '' && { username: user }),
  };
  const { changes, next } = await listChanges(services, resource, filter, CHANGES);
  const kept = new URLSearchParams({ history: '1', ...(rowId !== null && { of: `${rowId}` }) });
  if (user !== '') kept.set('user', user);
  const done = number('done');
  const view: HistoryView = {
    name,
    title: datasetTitle(resource),
    page,
    rowId,
    user,
    changes,
    olderHref: next === null ? null : `${page}?${kept}&cursor=${next}`,
    done: done === null ? null : `${rowsText(done)} taken back.`,
    refusal,
  };
  return pageReply(context, historyPage, view, { status });
}

/** Takes the form of the page. The caller may read and write the dataset. */
export async function historyFormReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  requireWritable(services, resource, 'POST');
  requireChangesAllowed(context);
  await requireWritableContent(services, resource);
  const fields = (await context.form()) ?? new Map<string, string>();
  const change = idOf(fields.get('change') ?? '');
  const row = fields.get('row') ?? '';
  try {
    const { result } = await undoChanges(services, context.user, context.origin, resource, {
      what: { change },
      rowIds: row === '' ? null : [idOf(row)],
      skipsConflicts: fields.get('action') === 'skip',
      isDryRun: false,
      ifMatch: null,
    });
    const query = new URLSearchParams({ history: '1', done: `${result.rowIds.length}` });
    return redirectReply(`/ui/${encodePath(resource.canonical)}/?${query}`, 303);
  } catch (error) {
    if (!(error instanceof AppError) || ![404, 409, 413, 422].includes(error.status)) throw error;
    const { status, message: text } = error;
    const isPartial = text.startsWith('Changed since');
    const shown = { change, isPartial, text: text.replace(/ With skip_conflicts.*/, '') };
    return historyPageReply(context, resource, shown, status);
  }
}

function rowsText(count: number): string {
  return count === 1 ? '1 row' : `${count} rows`;
}

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  undo: 'took back',
};

export const historyPage: Page<HistoryView> = {
  name: 'history',
  layout: 'wide',
  title: ({ title }) => `History of ${title}`,
  styles: ['grid.css'],
  trail: ({ name, page }) => [...trailTo(name), { label: name.split('/').at(-1)!, href: page }],
  content: (view, frame) => (
    <>
      <Notice text={view.done} />
      <form class="filter" method="get" action={view.page}>
        <input type="hidden" name="history" value="1" />
        <label>
          <span>Row</span>
          <input
            name="of"
            inputmode="numeric"
            size="8"
            autocomplete="off"
            value={view.rowId === null ? '' : String(view.rowId)}
          />
        </label>
        <label>
          <span>By</span>
          <input name="user" size="16" autocomplete="off" spellcheck="false" value={view.user} />
        </label>
        <button class="quiet" type="submit">
          Show
        </button>
      </form>
      {view.changes.length === 0 && <p class="fine">No change is known.</p>}
      <ol class="changes">
        {view.changes.map((change, index) => (
          <>
            {change.renumbered && view.changes[index - 1]?.renumbered !== true && (
              <li class="fine">
                Since then another program changed the file; what follows names rows by the numbers
                they had before.
              </li>
            )}
            <Change change={change} view={view} frame={frame} />
          </>
        ))}
      </ol>
      {view.olderHref !== null && (
        <nav class="paging" aria-label="Pages">
          <a class="button quiet" rel="next" href={view.olderHref}>
            Older
          </a>
        </nav>
      )}
    </>
  ),
};

type ChangeProps = {
  readonly change: ShownChange;
  readonly view: HistoryView;
  readonly frame: FrameView;
};

function Change({ change, view, frame }: ChangeProps) {
  const rows = change.rows.slice(0, SHOWN_ROWS);
  const left = change.count - rows.length;
  const refusal = view.refusal?.change === change.id ? view.refusal : null;
  const title = `${ACTIONS[change.action] ?? 'changed'} ${rowsText(change.count)}`;
  return (
    <li id={`change-${change.id}`}>
      <header>
        <h2>
          <span safe>{change.user}</span> <span safe>{title}</span>
        </h2>
        <UtcTime at={change.at} isRelative isExact />
        {change.undone === 'all' ? (
          <span class="fine">taken back</span>
        ) : (
          <UndoForm {...{ change, view, frame }} />
        )}
      </header>
      <Problem text={refusal?.text ?? null} />
      {refusal?.isPartial === true && <UndoForm {...{ change, view, frame }} isPartial />}
      {change.state === 'unsure' && (
        <p class="notice">
          The server was stopped during this change, and the rows were changed since: it may not
          have been made.
        </p>
      )}
      <div class="scroll" tabindex="0" role="region" aria-label={title}>
        <table>
          <thead class="visually-hidden">
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Cells</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row">
                  <a href={`${view.page}?history=1&of=${row._row_id}`}>{row._row_id}</a>
                </th>
                <td>
                  <Cells row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 && view.rowId === null && <p class="fine" safe>{`and ${rowsText(left)} more`}</p>}
    </li>
  );
}

function UndoForm({
  change,
  view,
  frame,
  isPartial = false,
}: ChangeProps & { isPartial?: boolean }) {
  const label = isPartial ? 'Take back the other rows' : 'Take back';
  return (
    <PostForm
      frame={frame}
      to={`${view.page}?history=1`}
      does={isPartial ? 'skip' : 'undo'}
      fields={[
        ['change', change.id],
        ...(view.rowId === null ? [] : [['row', view.rowId] as const]),
      ]}
    >
      <button class="quiet small" type="submit" aria-label={`${label}: change ${change.id}`} safe>
        {label}
      </button>
    </PostForm>
  );
}

/** Old and new, as in the grid; of a row that came or went its filled cells. */
function Cells({ row: { before, after } }: { row: ShownRow }) {
  const names = Object.keys(after ?? before ?? {});
  const filled = names.filter(
    (name) => (before !== null && after !== null) || textOf((after ?? before)![name]) !== '',
  );
  return (
    <dl class="cell-changes">
      {filled.slice(0, SHOWN_CELLS).map((name) => (
        <div>
          <dt safe>{shortened(name)}</dt>
          <dd>
            {before !== null && <del safe>{shortened(textOf(before[name])) || 'blank'}</del>}{' '}
            {after !== null && <ins safe>{shortened(textOf(after[name])) || 'blank'}</ins>}
          </dd>
        </div>
      ))}
      {filled.length > SHOWN_CELLS && (
        <div class="fine" safe>{`and ${filled.length - SHOWN_CELLS} more cells`}</div>
      )}
    </dl>
  );
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
