/** @jsxImportSource @kitajs/html */
import { timeOf } from '../../language/expressions/time.ts';
import { UtcTime } from './values.tsx';

export interface QueryProblem {
  readonly before: string;
  readonly wrong: string;
  readonly after: string;
  readonly message: string;
  readonly suggestion: string | null;
  /** The view with the suggestion applied; null where there is none. */
  readonly suggestionHref: string | null;
  readonly allowed: readonly string[];
}

export function EventQueryProblem({ problem }: { problem: QueryProblem }) {
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
      {problem.allowed.length > 0 && (
        <p class="fine" safe>{`Possible here: ${problem.allowed.join(', ')}`}</p>
      )}
    </div>
  );
}

export interface EventQueryView {
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  readonly timezone: string;
  readonly isTable: boolean;
  /** The chart: `1` wanted, `0` not wanted, `''` whatever suits the result. */
  readonly chart: string;
}

/** Both ends in one value, so that the choice works without script. A span without an end lasts until now. */
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

export function EventQuery({ view }: { view: EventQueryView }) {
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
          {!isPreset && (
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
      {view.timezone !== 'UTC' && <input type="hidden" name="timezone" value={view.timezone} />}
      {view.isTable && <input type="hidden" name="form" value="table" />}
      {view.chart !== '' && <input type="hidden" name="chart" value={view.chart} />}
      <p class="on-paper">
        <span safe>{SPANS.find(([span]) => span === present)?.[1] ?? ''}</span>
        {!isPreset && <PaperSpan view={view} />}
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

/** For print, where the choice cannot be printed. */
function PaperSpan({
  view: { earliest, latest },
}: {
  view: Pick<EventQueryView, 'earliest' | 'latest'>;
}) {
  return (
    <>
      {earliest === '' ? 'Until' : <End at={earliest} />}
      {earliest === '' || latest === '' ? ' ' : ' – '}
      {latest !== '' && <End at={latest} />}
    </>
  );
}

function End({ at }: { at: string }) {
  const moment = timeOf(at);
  return moment === null ? <span safe>{at}</span> : <UtcTime at={moment} isExact />;
}

function spanOf({ earliest, latest }: Pick<EventQueryView, 'earliest' | 'latest'>): string {
  return latest === '' ? earliest : `${earliest}..${latest}`;
}

function spanText({ earliest, latest }: Pick<EventQueryView, 'earliest' | 'latest'>): string {
  if (latest === '' || latest === 'now') return `From ${earliest}`;
  return `${earliest === '' ? 'until' : `${earliest} to`} ${latest}`;
}
