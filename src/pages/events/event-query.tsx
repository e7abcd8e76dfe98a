/** @jsxImportSource @kitajs/html */
import { ASK, type Asked, beginning, pathOf } from './explorer-state.ts';
import { TimePicker } from './time-picker.tsx';

export interface QueryProblem {
  readonly before: string;
  readonly wrong: string;
  readonly after: string;
  readonly message: string;
  readonly suggestion: string | null;
  readonly suggestionHref: string | null;
  /** The page that understands it; null for what is no SQL. */
  readonly sqlHref: string | null;
  readonly allowed: readonly string[];
}

export function EventQueryProblem({ problem, isSql }: { problem: QueryProblem; isSql: boolean }) {
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
          <a
            href={problem.suggestionHref}
            safe
          >{`${isSql ? 'Run' : 'Search'} with “${problem.suggestion}”`}</a>
        </p>
      ) : problem.suggestion === null ? (
        ''
      ) : (
        <p safe>{`Did you mean ${problem.suggestion}?`}</p>
      )}
      {problem.sqlHref !== null && (
        <p>
          <a href={problem.sqlHref}>Run it as SQL</a>
        </p>
      )}
      {problem.allowed.length > 0 && (
        <p class="fine" safe>{`Possible here: ${problem.allowed.join(', ')}`}</p>
      )}
    </div>
  );
}

export interface EventQueryView {
  readonly dataset: string | null;
  readonly isSql: boolean;
  /** Of the parameters of a statement. */
  readonly values: Readonly<Record<string, string>>;
  readonly examples: readonly { readonly query: string; readonly href: string }[];
  readonly q: string;
  readonly earliest: string;
  readonly latest: string;
  readonly timezone: string;
  readonly isTable: boolean;
  readonly view: Asked['view'];
}

export function EventQuery({ view }: { view: EventQueryView }) {
  return (
    <form
      id="query"
      class="query-form"
      method="get"
      action={pathOf(view)}
      role="search"
      data-slow={view.isSql ? 'Reading' : 'Searching'}
    >
      <label class="query-text">
        <span class="visually-hidden">{view.isSql ? 'Statement' : 'Query'}</span>
        <textarea
          name={view.dataset === null ? 'q' : ASK}
          rows={view.isSql ? '6' : '1'}
          spellcheck="false"
          autocapitalize="none"
          placeholder={
            view.isSql
              ? 'SELECT * FROM "folder/table" WHERE … ORDER BY …'
              : view.dataset === null
                ? 'error host=web* | stats count by host'
                : `${beginning(view.dataset)}stats count`
          }
          data-key="e"
          safe
        >
          {view.q}
        </textarea>
      </label>
      {/* Enter presses the first button of a form, which must not be a span of time. */}
      <button type="submit" hidden></button>
      {hasSpan(view) ? (
        <TimePicker view={view} />
      ) : (
        view.timezone !== 'UTC' && <input type="hidden" name="timezone" value={view.timezone} />
      )}
      {view.isTable && <input type="hidden" name="form" value="table" />}
      {Object.entries(view.view).map(
        ([name, value]) => name !== 'refresh' && <input type="hidden" {...{ name, value }} />,
      )}
      <button type="submit">{view.isSql ? 'Run' : view.dataset === null ? 'Search' : 'Ask'}</button>
      {view.isSql ? (
        <SqlHints view={view} />
      ) : view.dataset === null ? (
        <EventHints />
      ) : (
        <DatasetHints view={view} />
      )}
    </form>
  );
}

function hasSpan({ dataset, isSql }: EventQueryView): boolean {
  return dataset === null && !isSql;
}

function SqlHints({ view: { values, examples } }: { view: EventQueryView }) {
  const named = Object.entries(values);
  return (
    <div class="hints">
      {named.length > 0 && (
        <p class="between">
          {named.map(([name, value]) => (
            <label>
              <code safe>{`:${name}`}</code> <input name={`:${name}`} value={value} />
            </label>
          ))}
        </p>
      )}
      <Examples examples={examples} />
      <details class="hint">
        <summary>Help</summary>
        <p>
          One statement of SQLite reads all datasets you may read, by their names in double quotes:{' '}
          <code>
            SELECT city, sum(total) FROM "shop/orders" JOIN people USING (name) GROUP BY 1
          </code>
          . Parameters such as <code>:from</code> get a field here. Events join in by a line before
          the statement: <code>-- with errors: level=error | stats count by host</code> makes a
          table <code>errors</code>. <a href="/docs/guide/searching#sql">More in the guide</a>
        </p>
        <p>Ctrl and Enter run it.</p>
      </details>
    </div>
  );
}

function EventHints() {
  return (
    <div class="hints">
      <details class="hint">
        <summary>Help</summary>
        <p>
          Words search the text; <code>host=web*</code>, <code>status&gt;=500</code> search fields;{' '}
          <code>AND</code> <code>OR</code> <code>NOT</code> combine. After <code>|</code> come
          commands: <code>| top 10 host</code>, <code>| timechart count by host</code>,{' '}
          <code>| stats avg(ms) by path | sort -avg(ms)</code>, <code>| table _time host data</code>
          . Files are tables too: <code>from shop/products | where price &gt; 5</code>.{' '}
          <a href="/docs/search-language">All commands</a>. Joins across files are also asked{' '}
          <a href="/sql">in SQL</a>.
        </p>
        <p>Enter searches or finishes the word, Shift and Enter begin a new line.</p>
      </details>
    </div>
  );
}

function Examples({ examples }: Pick<EventQueryView, 'examples'>) {
  return (
    <>
      {examples.length > 0 && (
        <p class="hint">
          {'For example '}
          {examples.map(({ query, href }, index) => (
            <>
              {index > 0 && ' · '}
              <a {...{ href }}>
                <code safe>{query}</code>
              </a>
            </>
          ))}
        </p>
      )}
    </>
  );
}

function DatasetHints({ view: { examples } }: { view: EventQueryView }) {
  return (
    <div class="hints">
      <Examples examples={examples} />
      <details class="hint">
        <summary>Help</summary>
        <p>
          Rows come from <code>from</code>, and each <code>|</code> hands them on:{' '}
          <code>where price &gt; 5 AND name LIKE "Tea%"</code>, <code>eval total=qty*price</code>,{' '}
          <code>stats sum(qty*price) AS total BY region</code>, <code>sort -total</code>,{' '}
          <code>head 10</code>, <code>table name, total</code>, <code>lookup</code> and{' '}
          <code>join</code> with other datasets. <a href="/docs/search-language">All commands</a>
        </p>
        <p>Enter asks or finishes the word, Shift and Enter begin a new line.</p>
      </details>
    </div>
  );
}
