/**
 * The event explorer: a query, a span of time, what came of it. Every view has an address; scripts add the editor, the
 * histogram, the fields and the live tail.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Format } from '../../dataset/format.ts';
import { timeOf } from '../../pipeline/time.ts';
import { CopyLine } from '../page-parts/copy-line.tsx';
import { ExportMenu } from '../page-parts/export-menu.tsx';
import { breakableParts } from '../../base/breakable-text.ts';
import type { FrameView, Page } from './frame.tsx';
import { assetNamed } from '../assets.ts';
import { CsrfField } from './frame.tsx';

/** A member of an event and the views that keep or leave out its value. */
export interface EventField {
  readonly name: string;
  readonly value: string;
  /** Null on a page that has enough links. */
  readonly includeHref: string | null;
  readonly excludeHref: string | null;
}

/** An event as a line of the list. */
export interface EventLine {
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly source: string;
  readonly text: string;
  readonly fields: readonly EventField[];
}

/** A cell of a result table. */
export interface ResultCell {
  readonly text: string;
  readonly kind: 'text' | 'number' | 'time' | 'blank';
  /** The view that keeps only events with this value; absent where no search can. */
  readonly includeHref?: string | null;
}

/** What it took to answer. */
export interface ResultFigures {
  readonly rows: number;
  /** More match. */
  readonly isCut: boolean;
  readonly scanned: number;
  readonly elapsedMs: number;
}

/** What is wrong with the query, and where. */
export interface QueryProblem {
  readonly before: string;
  readonly wrong: string;
  readonly after: string;
  readonly message: string;
  readonly suggestion: string | null;
  /** The view with the suggestion in place of what is wrong; null where there is none. */
  readonly suggestionHref: string | null;
  readonly allowed: readonly string[];
}

/** What the page shows. */
export interface EventsView {
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  /** The query with its times, as it ran. */
  readonly full: string;
  /** The first stage, when it searches by terms: what histogram, fields and tail look at. */
  readonly terms: string | null;
  readonly problem: QueryProblem | null;
  readonly notices: readonly string[];
  /** Events as lines; null: other rows, in `columns` and `rows`. */
  readonly lines: readonly EventLine[] | null;
  /** Events are shown as a table. */
  readonly isTable: boolean;
  readonly columns: readonly { readonly name: string; readonly isNumeric: boolean }[];
  readonly rows: readonly (readonly ResultCell[])[];
  /** Null: nothing was run, `problem` says why. */
  readonly figures: ResultFigures | null;
  /** The same events as a table, or as lines; null for other rows. */
  readonly otherForm: { readonly label: string; readonly href: string } | null;
  /** The same with more rows; null when all are shown. */
  readonly moreHref: string | null;
  /** The result in each format, with as many rows as the format may have. */
  readonly formatHrefs: Readonly<Record<Format, string>>;
  readonly maxFileRows: number;
  /** The rows are the events that a histogram counts. */
  readonly isCountable: boolean;
  /** Columns of a series over time or by a name, for a chart. */
  readonly isChartable: boolean;
  /** Whether the reader wants the chart: `1`, `0`, or `''` for whatever suits the result. */
  readonly chart: string;
  /** The reader may see events at all. */
  readonly mayReadEvents: boolean;
  /** Address of the server for programs of the reader, who may send events; null: may not. */
  readonly sendsTo: string | null;
  /** The same without its bounds of time; null where it has none. */
  readonly allTimeHref: string | null;
}

/** Both ends in one value, so that the choice works without script; without an end up to now. */
const SPANS = [
  ['-15m', 'Last 15 minutes'],
  ['-1h', 'Last hour'],
  ['-4h', 'Last 4 hours'],
  ['-24h', 'Last 24 hours'],
  ['@d', 'Today'],
  ['-1d@d..@d', 'Yesterday'],
  ['-7d', 'Last 7 days'],
  ['-30d', 'Last 30 days'],
  ['', 'All time'],
] as const;

/** `/events`. */
export const eventsPage: Page<EventsView> = {
  name: 'events',
  layout: 'wide',
  title: () => 'Events',
  navigation: { label: 'Events', href: '/events', audience: 'users' },
  styles: ['uplot.css', 'events.css'],
  scripts: ['events.js', 'query-editor.js'],
  content: (view, frame) => (
    <div
      id="explorer"
      data-keys={'Enter Search\nShift+Enter New line in the query'}
      data-terms={view.terms ?? ''}
      data-searches={String(view.terms !== null && view.mayReadEvents)}
      data-reads={String(view.mayReadEvents)}
      data-earliest={view.earliest}
      data-latest={view.latest}
    >
      <Query view={view} />
      {view.problem === null ? '' : <Problem problem={view.problem} />}
      <div class="explorer">
        <aside id="fields" aria-label="Fields" hidden></aside>
        <div class="results">
          <div id="histogram" class="histogram" hidden></div>
          <Tools view={view} frame={frame} />
          {view.notices.map((notice) => (
            <p class="notice" safe>
              {notice}
            </p>
          ))}
          <p id="tail-status" class="fine" role="status" hidden></p>
          <ol id="tail" class="lines" aria-label="Live events" hidden></ol>
          {view.problem !== null ? (
            ''
          ) : view.lines === null ? (
            <Table view={view} />
          ) : (
            <Lines view={view} />
          )}
          {view.moreHref === null ? (
            ''
          ) : (
            <p class="more">
              <a class="button quiet" href={view.moreHref}>
                Show more
              </a>
            </p>
          )}
        </div>
      </div>
    </div>
  ),
};

function Query({ view }: { view: EventsView }) {
  const present = spanOf(view);
  const isPreset = SPANS.some(([span]) => span === present);
  return (
    <form
      id="query"
      class="query-form"
      method="get"
      action="/events"
      role="search"
      data-slow="Searching"
    >
      <label class="query-text">
        <span class="visually-hidden">Query</span>
        <textarea
          name="q"
          rows="2"
          spellcheck="false"
          autocapitalize="none"
          placeholder={'error host=web* | stats count by host'}
          data-key="e"
          safe
        >
          {view.q}
        </textarea>
      </label>
      <label>
        <span class="visually-hidden">Time</span>
        <select name="earliest">
          {isPreset ? (
            ''
          ) : (
            <option value={present} selected safe>
              {spanText(view)}
            </option>
          )}
          {SPANS.map(([span, label]) => (
            <option value={span} selected={span === present} safe>
              {label}
            </option>
          ))}
        </select>
      </label>
      {view.isTable ? <input type="hidden" name="form" value="table" /> : ''}
      {view.chart === '' ? '' : <input type="hidden" name="chart" value={view.chart} />}
      <p class="on-paper">
        <span safe>{SPANS.find(([span]) => span === present)?.[1] ?? ''}</span>
        {isPreset ? '' : <PaperSpan view={view} />}
      </p>
      <button type="submit">Search</button>
      <div class="hints">
        <details class="hint">
          <summary>Between two times</summary>
          <p class="between">
            <label>
              <span>
                From <small class="zone">(UTC)</small>
              </span>
              <input type="datetime-local" name="from" step="1" />
            </label>
            <label>
              <span>
                To <small class="zone">(UTC)</small>
              </span>
              <input type="datetime-local" name="to" step="1" />
            </label>
            <button class="quiet" type="submit">
              Search between
            </button>
          </p>
        </details>
        <details class="hint">
          <summary>Help</summary>
          <p>
            Words search the text; <code>host=web*</code>, <code>status&gt;=500</code> search
            fields; <code>AND</code> <code>OR</code> <code>NOT</code> combine. After <code>|</code>{' '}
            come commands: <code>| top 10 host</code>, <code>| timechart count by host</code>,{' '}
            <code>| stats avg(ms) by path | sort -avg(ms)</code>,{' '}
            <code>| table _time host data</code>. Files are tables too:{' '}
            <code>from shop/products | where price &gt; 5</code>.{' '}
            <a href="/docs/search-language">All commands</a>
          </p>
          <p>Enter searches or finishes the word, Shift and Enter begin a new line.</p>
        </details>
      </div>
    </form>
  );
}

/** Which time it is, where the choice cannot be printed. */
function PaperSpan({ view: { earliest, latest } }: { view: EventsView }) {
  return (
    <>
      {earliest === '' ? 'Until' : <End at={earliest} />}
      {earliest === '' || latest === '' ? ' ' : ' – '}
      {latest === '' ? '' : <End at={latest} />}
    </>
  );
}

function End({ at }: { at: string }) {
  const moment = timeOf(at);
  return moment === null ? <span safe>{at}</span> : <Time at={moment} />;
}

function Problem({ problem }: { problem: QueryProblem }) {
  return (
    <div class="problem" role="alert">
      <pre class="query-problem">
        <span safe>{problem.before}</span>
        <mark safe>{problem.wrong}</mark>
        <span safe>{problem.after}</span>
      </pre>
      <p safe>{problem.message}</p>
      {problem.suggestionHref !== null && problem.suggestion !== null ? (
        <p>
          <a href={problem.suggestionHref} safe>{`Search with “${problem.suggestion}”`}</a>
        </p>
      ) : problem.suggestion === null ? (
        ''
      ) : (
        <p safe>{`Did you mean ${problem.suggestion}?`}</p>
      )}
      {problem.allowed.length === 0 ? (
        ''
      ) : (
        <p class="fine" safe>{`Possible here: ${problem.allowed.join(', ')}`}</p>
      )}
    </div>
  );
}

function Tools({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <div class="tools">
      <p class="fine" role="status">
        {view.figures === null ? (
          'Nothing was searched'
        ) : (
          <Figures {...view} figures={view.figures} />
        )}
      </p>
      {view.otherForm === null ? (
        ''
      ) : (
        <a class="button quiet small" href={view.otherForm.href} safe>
          {view.otherForm.label}
        </a>
      )}
      {view.problem === null ? <Watch /> : ''}
      {view.isChartable ? (
        <button
          type="button"
          class={isDrawn(view) ? 'quiet small drawn' : 'quiet small'}
          id="chart"
          hidden
          data-key="c"
          data-script={assetNamed('result-bars.js').path}
        >
          Chart
        </button>
      ) : (
        ''
      )}
      <details class="menu-button" id="history" hidden>
        <summary class="button quiet small">History</summary>
        <ul class="plain-list"></ul>
      </details>
      {view.problem === null ? <Keep view={view} frame={frame} /> : ''}
    </div>
  );
}

/** The chart is there without being asked for: the reader chose it, or the rows are of times. */
function isDrawn({ chart, rows }: EventsView): boolean {
  return chart === '' ? rows.every(([first]) => first?.kind === 'time') : chart === '1';
}

/** Buttons that script shows where there are events to watch. */
function Watch() {
  return (
    <>
      <button type="button" class="quiet small" id="pause" hidden data-key="p">
        Pause
      </button>
      <button
        type="button"
        class="quiet small"
        id="live"
        data-action="Watch events live"
        hidden
        data-key="l"
      >
        Watch live
      </button>
    </>
  );
}

/** What can be done with a result: keep it, take it along. */
function Keep({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <>
      <details class="menu-button">
        <summary class="button quiet small">Save</summary>
        <form class="stack" method="post" action="/savedsearches">
          <CsrfField frame={frame} />
          <input type="hidden" name="action" value="create" />
          <input type="hidden" name="query" value={view.full} />
          <label>
            Name
            <input name="name" required maxlength="255" autocomplete="off" />
          </label>
          <label class="check">
            <input type="checkbox" name="is_public" value="true" /> Everybody may see it
          </label>
          <button type="submit">Save this search</button>
        </form>
      </details>
      <ExportMenu
        json={view.formatHrefs.json}
        query={view.full}
        files={view.formatHrefs}
        note={<FileRows view={view} />}
      />
    </>
  );
}

/** How many rows a file of the result will have, as far as that is known here; a count of all of them tells the script the rest. */
function FileRows({ view: { figures, maxFileRows, isCountable } }: { view: EventsView }) {
  if (figures !== null && !figures.isCut) {
    const { rows } = figures;
    const isWhole = rows <= maxFileRows;
    return (
      <>
        {isWhole ? 'all ' : 'the first '}
        {isWhole ? '' : <Count value={maxFileRows} />}
        {isWhole ? '' : ' of '}
        <Count value={rows} />
        {rows === 1 ? ' row' : ' rows'}
      </>
    );
  }
  return (
    <span id={isCountable ? 'file-rows' : undefined} data-most={String(maxFileRows)}>
      up to <Count value={maxFileRows} /> rows
    </span>
  );
}

interface FiguresProps {
  readonly figures: ResultFigures;
  readonly isCountable: boolean;
}

function Figures({ figures, isCountable }: FiguresProps) {
  const { rows, isCut, scanned, elapsedMs } = figures;
  return (
    <>
      {isCut ? 'first ' : ''}
      <Count value={rows} />
      {isCut && isCountable ? <span id="matched"></span> : ''}
      {rows === 1 ? ' row · ' : ' rows · '}
      <Count value={scanned} />
      {' scanned · '}
      <Count value={elapsedMs} />
      {' ms'}
    </>
  );
}

function Count({ value }: { value: number }) {
  return (
    <data class="count" value={String(value)} safe>
      {String(value)}
    </data>
  );
}

function Lines({ view }: { view: EventsView }) {
  if (view.lines === null || view.lines.length === 0) return <Empty view={view} />;
  return (
    <ol class="lines" aria-label="Events">
      {view.lines.map((line) => (
        <li>
          <details>
            <summary>
              <Time at={line.time} />
              <span class="kind" safe>
                {line.source}
              </span>
              <code class="line">
                <Breakable text={line.text} />
              </code>
            </summary>
            <dl class="event-fields">
              {line.fields.map(({ name, value, includeHref, excludeHref }) => (
                <>
                  <dt safe>{name}</dt>
                  <dd>
                    <span safe>{value}</span>
                    {includeHref === null ? (
                      ''
                    ) : (
                      <a href={includeHref} aria-label={`Only events with ${name} ${value}`}>
                        only
                      </a>
                    )}
                    {excludeHref === null ? (
                      ''
                    ) : (
                      <a href={excludeHref} aria-label={`Events without ${name} ${value}`}>
                        without
                      </a>
                    )}
                  </dd>
                </>
              ))}
            </dl>
          </details>
        </li>
      ))}
    </ol>
  );
}

/** The text of an event; dense ones such as JSON break behind their commas. */
function Breakable({ text }: { text: string }) {
  return (
    <>
      {breakableParts(text).map((part, index) => (
        <>
          {index === 0 ? '' : <wbr />}
          {Bun.escapeHTML(part) as 'safe'}
        </>
      ))}
    </>
  );
}

function Table({ view }: { view: EventsView }) {
  if (view.rows.length === 0) return <Empty view={view} />;
  return (
    <div class="scroll" tabindex="0" role="region" aria-label="Result">
      <table class="rows" id="result">
        <thead>
          <tr>
            {view.columns.map(({ name, isNumeric }) => (
              <th scope="col" class={isNumeric ? 'number' : undefined} safe>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.rows.map((cells) => (
            <tr>
              {cells.map((cell, index) => (
                <td class={cell.kind === 'number' ? 'number' : undefined}>
                  <Cell cell={cell} name={view.columns[index]!.name} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ cell: { text, kind, includeHref }, name }: { cell: ResultCell; name: string }) {
  if (kind === 'time') return <Time at={text} />;
  if (kind === 'number') {
    return (
      <data value={text} safe>
        {text}
      </data>
    );
  }
  if (includeHref === null || includeHref === undefined) return <span safe>{text}</span>;
  return (
    <a class="value" href={includeHref} data-field={name} title="Keep or leave out" safe>
      {text}
    </a>
  );
}

/** What a list without anything says depends on what was asked, and on what the reader may do about it. */
function Empty({ view }: { view: EventsView }) {
  const { mayReadEvents, terms, q, allTimeHref, sendsTo } = view;
  if (!mayReadEvents && terms !== null) {
    return (
      <section class="empty">
        <p>
          You may not read any events yet. Whoever administers this server can give you the right to
          read an index.
        </p>
        {sendsTo === null ? '' : <Send to={sendsTo} />}
      </section>
    );
  }
  const isPlain = q.trim() === '';
  const during = allTimeHref === null ? '' : ' in this time';
  return (
    <section class="empty">
      <p safe>{isPlain ? `No events${during}.` : `Nothing matches${during}.`}</p>
      {allTimeHref === null ? (
        isPlain ? (
          ''
        ) : (
          <p>Try fewer words.</p>
        )
      ) : (
        <p>
          <a href={allTimeHref}>Look at all time</a>
          {isPlain ? '' : ', or try fewer words'}.
        </p>
      )}
      {isPlain ? sendsTo === null ? <Unsent /> : <Send to={sendsTo} /> : ''}
    </section>
  );
}

function Unsent() {
  return (
    <p>
      Programs and log shippers send them here; who administers this server can{' '}
      <a href="/docs/guide/shippers">let them</a>.
    </p>
  );
}

function Send({ to }: { to: string }) {
  const body = `{"source": "terminal", "data": "hello"}`;
  const header = "-H 'Content-Type: application/json'";
  return (
    <>
      <p>
        You may send some: from a terminal, with an <a href="/profile#keys">API key</a> as{' '}
        <code>SVC_API_KEY</code>, or with a <a href="/docs/guide/shippers">log shipper</a>.
      </p>
      <CopyLine
        text={`curl -H "X-API-Key: $SVC_API_KEY" ${header} -d '${body}' '${to}/api/events/'`}
      />
    </>
  );
}

function Time({ at }: { at: string }) {
  return (
    <time datetime={at} safe>
      {`${at.slice(0, 19).replace('T', ' ')} UTC`}
    </time>
  );
}

function spanOf({ earliest, latest }: Pick<EventsView, 'earliest' | 'latest'>): string {
  return latest === '' ? earliest : `${earliest}..${latest}`;
}

function spanText({ earliest, latest }: EventsView): string {
  if (latest === '' || latest === 'now') return `From ${earliest}`;
  return `${earliest === '' ? 'until' : `${earliest} to`} ${latest}`;
}
