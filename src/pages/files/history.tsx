/** @jsxImportSource @kitajs/html */
/** What was changed in a dataset or file, by whom, each with what takes it back. Works without script. */
import { AppError } from '../../base/errors.ts';
import { encodePath, fileNameOf } from '../../base/paths.ts';
import { sizeText } from '../../base/text/size-text.ts';
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
import { differenceOf, requireWholeFile, restoreContent } from '../../operations/files/versions.ts';
import { requireWritable, requireWritableContent } from '../../operations/files/datasets.ts';
import { requireChangesAllowed } from '../../api/files/datasets.ts';
import { datasetTitle, trailTo } from '../addresses.ts';
import { idOf } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { PostButton } from '../parts/forms.tsx';
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
  readonly isDataset: boolean;
  /** Where contents of the file are; they are asked for by what came before. */
  readonly content: string;
  /** Of this row alone. */
  readonly rowId: number | null;
  /** This one alone. */
  readonly change: number | null;
  readonly user: string;
  readonly column: string;
  /** What a change did to a text, as a unified diff. */
  readonly difference: { readonly change: number; readonly text: string } | null;
  readonly changes: readonly ShownChange[];
  /** After which there is nothing to take back; null: not looked at. */
  readonly newest: number | null;
  readonly olderHref: string | null;
  readonly done: string | null;
  /** Why a change was not taken back or shown, and which. */
  readonly refusal: {
    readonly change: number;
    readonly text: string;
    /** Other rows can be taken back. */
    readonly isPartial: boolean;
    /** It was about all that came after it. */
    readonly isAfter?: boolean;
  } | null;
}

/** For a caller who may read it. Throws `permission-denied` for who may not write it. */
export async function historyPageReply(
  context: Context,
  resource: Resource,
  refusal: HistoryView['refusal'] = null,
  status = 200,
): Promise<Reply> {
  const { services, user: caller, origin } = context;
  const { canonical: name, rel } = resource;
  await requireAccess(services, caller, origin, { name, resource, verb: 'write' });
  const number = (parameter: string): number | null => {
    const text = context.queryValue(parameter) ?? '';
    return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
  };
  const [rowId, before, change] = [number('of'), number('cursor'), number('change')];
  const [user = '', column = ''] = ['user', 'column'].map((one) =>
    (context.queryValue(one) ?? '').trim(),
  );
  const isDataset = resource.kind.dataset !== undefined;
  const address = encodePath(isDataset ? name : rel);
  const page = `/ui/${address}${isDataset ? '/' : ''}`;
  const filter = {
    ...(rowId !== null && { rowId }),
    ...(before !== null && { before }),
    ...(change !== null && { change }),
    ...(user !== '' && { username: user }),
    ...(column !== '' && { column }),
  };
  const { changes, next } = await listChanges(services, resource, filter, CHANGES);
  const kept = new URLSearchParams({ history: '1', ...(rowId !== null && { of: `${rowId}` }) });
  if (user !== '') kept.set('user', user);
  if (column !== '') kept.set('column', column);
  const done = context.queryValue('done');
  const compared = await comparedText(context, resource, number('diff'));
  const view: HistoryView = {
    name: isDataset ? name : rel,
    title: isDataset ? datasetTitle(resource) : fileNameOf(rel),
    page,
    isDataset,
    content: `/_svc/history/${address}?content=`,
    rowId,
    change,
    user,
    column,
    changes,
    newest: Object.keys(filter).length === 0 ? (changes[0]?.id ?? null) : null,
    difference: compared.difference,
    olderHref: next === null ? null : `${page}?${kept}&cursor=${next}`,
    done:
      done === 'content'
        ? 'The file is as it was.'
        : number('done') === null
          ? null
          : `${rowsText(number('done')!)} taken back.`,
    refusal: refusal ?? compared.refusal,
  };
  return pageReply(context, historyPage, view, { status });
}

/** What cannot be compared is said at the change. */
async function comparedText(
  { services, user, origin }: Context,
  resource: Resource,
  change: number | null,
): Promise<Pick<HistoryView, 'difference' | 'refusal'>> {
  if (change === null) return { difference: null, refusal: null };
  try {
    const { rel } = await requireWholeFile(services, user, origin, resource);
    const text = await differenceOf(services, rel, change);
    return { difference: { change, text: text.slice(0, MAX_DIFFERENCE) }, refusal: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return { difference: null, refusal: { change, text: error.message, isPartial: false } };
  }
}

/** Takes the forms of the page. The caller may read and write it. */
export async function historyFormReply(context: Context, resource: Resource): Promise<Reply> {
  const { services, user, origin } = context;
  requireChangesAllowed(context);
  const fields = (await context.form()) ?? new Map<string, string>();
  const action = fields.get('action') ?? '';
  const change = idOf(fields.get('change') ?? '');
  const isDataset = resource.kind.dataset !== undefined;
  const address = encodePath(isDataset ? resource.canonical : resource.rel);
  const back = (done: string): Reply => {
    const query = new URLSearchParams({ history: '1', done });
    return redirectReply(`/ui/${address}${isDataset ? '/' : ''}?${query}`, 303);
  };
  try {
    if (action === 'content') {
      const whole = await requireWholeFile(services, user, origin, resource);
      await restoreContent(services, user, origin, whole, change - 1);
      return back('content');
    }
    requireWritable(services, resource, 'POST');
    await requireWritableContent(services, resource);
    const [row = '', column = ''] = ['row', 'column'].map((one) => fields.get(one));
    const { result } = await undoChanges(services, user, origin, resource, {
      what: action.startsWith('after') ? { after: change } : { change },
      rowIds: row === '' ? null : [idOf(row)],
      columns: column === '' ? null : [column],
      skipsConflicts: action.endsWith('skip'),
      isDryRun: false,
      ifMatch: null,
    });
    return back(`${result.rowIds.length}`);
  } catch (error) {
    if (!(error instanceof AppError) || ![404, 409, 410, 413, 422].includes(error.status)) {
      throw error;
    }
    const { status, message: text } = error;
    const isPartial = text.startsWith('Changed since');
    const isAfter = action.startsWith('after');
    const shown = { change, isPartial, isAfter, text: text.replace(/ With skip_conflicts.*/, '') };
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
const FILE_ACTIONS: Readonly<Record<string, string>> = {
  upload: 'replaced the file',
  restore: 'put an earlier version in place',
  delete: 'deleted the file',
};
/** Characters of a page. */
const MAX_DIFFERENCE = 200_000;

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
        {view.isDataset && (
          <>
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
              <span>Column</span>
              <input
                name="column"
                size="16"
                autocomplete="off"
                spellcheck="false"
                value={view.column}
              />
            </label>
          </>
        )}
        <label>
          <span>By</span>
          <input name="user" size="16" autocomplete="off" spellcheck="false" value={view.user} />
        </label>
        <button class="quiet" type="submit">
          Show
        </button>
      </form>
      {view.change !== null && (
        <p>
          <a href={`${view.page}?history=1`}>All changes</a>
        </p>
      )}
      {view.changes.length === 0 && <p class="fine">No change is known.</p>}
      <ol class="changes">
        {view.changes.map((change, index) => (
          <>
            {change.renumbered && view.changes[index - 1]?.renumbered !== true && (
              <li class="fine">
                Since then the rows were numbered anew; what follows names them by the numbers they
                had before.
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

function titleOf({ action, count, version, user }: ShownChange): string {
  const what = FILE_ACTIONS[action];
  if (what !== undefined) return count === 0 ? what : `${what}: ${rowsText(count)}`;
  if (user === null && count === 0 && version === null)
    return 'wrote the file without changing rows';
  return `${ACTIONS[action] ?? 'changed'} ${rowsText(count)}`;
}

function Change({ change, view, frame }: ChangeProps) {
  const rows = view.change === null ? change.rows.slice(0, SHOWN_ROWS) : change.rows;
  const left = change.count - rows.length;
  const refusal = view.refusal?.change === change.id ? view.refusal : null;
  const title = titleOf(change);
  const isOfRows = change.count > 0;
  return (
    <li id={`change-${change.id}`}>
      <header>
        <h2>
          <span safe>{change.user ?? 'Another program'}</span> <span safe>{title}</span>
        </h2>
        <UtcTime at={change.at} isRelative isExact />
        {change.undone === 'all' ? (
          <span class="fine">taken back</span>
        ) : (
          isOfRows && <UndoForm {...{ change, view, frame }} />
        )}
      </header>
      <div class="fine change-links">
        {view.isDataset && (
          <>
            <a href={`${view.page}?then=${change.id}`}>As it was then</a>
            {change.id !== view.newest && <UndoForm {...{ change, view, frame }} isAfter />}
          </>
        )}
        {change.version !== null && (
          <>
            <a href={`${view.page}?history=1&diff=${change.id}#change-${change.id}`}>Compare</a>
            <a href={`${view.content}${change.id - 1}`} download="">
              {`Download what it replaced (${sizeText(change.version.size)})`}
            </a>
            <PostButton
              frame={frame}
              to={`${view.page}?history=1`}
              does="content"
              fields={[['change', change.id]]}
              label="Put that back"
              name={`Put back what change ${change.id} replaced`}
            />
          </>
        )}
      </div>
      <Problem text={refusal?.text ?? null} />
      {refusal?.isPartial === true && (
        <UndoForm {...{ change, view, frame }} isPartial isAfter={refusal.isAfter === true} />
      )}
      {view.difference?.change === change.id && <Difference text={view.difference.text} />}
      {change.damaged && <p class="notice">What it did cannot be read any more.</p>}
      {change.state === 'unsure' && (
        <p class="notice">
          The server was stopped during this change, and the rows were changed since: it may not
          have been made.
        </p>
      )}
      {rows.length > 0 && (
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
                    <Cells {...{ change, row, view, frame }} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {left > 0 && view.rowId === null && (
        <p class="fine">
          <span safe>{`and ${rowsText(left)} more`}</span>{' '}
          {view.change === null && <a href={`${view.page}?history=1&change=${change.id}`}>Show</a>}
        </p>
      )}
    </li>
  );
}

/** A unified diff; its marks say what the colours say. */
function Difference({ text }: { text: string }) {
  const all = text.split('\n');
  const first = all.findIndex((line) => line.startsWith('@@'));
  const lines = all.slice(first < 0 ? 2 : first);
  return (
    <pre class="difference" tabindex="0">
      {lines.map((line) => {
        if (line.startsWith('+')) return <ins safe>{`${line}\n`}</ins>;
        if (line.startsWith('-')) return <del safe>{`${line}\n`}</del>;
        return <span safe>{`${line}\n`}</span>;
      })}
    </pre>
  );
}

function UndoForm({
  change,
  view,
  frame,
  isPartial = false,
  isAfter = false,
}: ChangeProps & { isPartial?: boolean; isAfter?: boolean }) {
  const what = isAfter ? 'Take back all since' : 'Take back';
  const label = isPartial ? `${what}: the other rows` : what;
  const does = `${isAfter ? 'after' : ''}${isPartial ? 'skip' : isAfter ? '' : 'undo'}`;
  return (
    <PostButton
      frame={frame}
      to={`${view.page}?history=1`}
      does={does}
      fields={[
        ['change', change.id],
        ...(view.rowId === null ? [] : [['row', view.rowId] as const]),
      ]}
      label={label}
      name={`${label}: change ${change.id}`}
    />
  );
}

/** Old and new, as in the grid; of a row that came or went its filled cells. */
function Cells({ change, row, view, frame }: ChangeProps & { row: ShownRow }) {
  const { before, after } = row;
  const names = Object.keys(after ?? before ?? {});
  const isChanged = before !== null && after !== null;
  const filled = names.filter((name) => isChanged || textOf((after ?? before)![name]) !== '');
  const mayTakeBack = isChanged && view.rowId !== null && change.undone !== 'all';
  return (
    <dl class="cell-changes">
      {filled.slice(0, SHOWN_CELLS).map((name) => (
        <div>
          <dt safe>{shortened(name)}</dt>
          <dd>
            {before !== null && <del safe>{shortened(textOf(before[name])) || 'blank'}</del>}{' '}
            {after !== null && <ins safe>{shortened(textOf(after[name])) || 'blank'}</ins>}
            {mayTakeBack && filled.length > 1 && (
              <PostButton
                frame={frame}
                to={`${view.page}?history=1`}
                does="undo"
                fields={[
                  ['change', change.id],
                  ['row', row._row_id],
                  ['column', name],
                ]}
                label="Take back"
                name={`Take back ${shortened(name)} of row ${row._row_id}`}
                look="plain small"
              />
            )}
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
