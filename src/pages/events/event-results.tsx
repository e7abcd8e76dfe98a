/** @jsxImportSource @kitajs/html */
/**
 * A line for a terminal with a copy button, which script shows.
 */
import { breakableParts } from '../../base/text/breakable-text.ts';
import type { Level } from '../../base/text/level-names.ts';
import { UtcTime } from '../parts/values.tsx';

function CopyLine({ text }: { text: string }) {
  return (
    <div class="copy-line">
      <pre tabindex="0">
        <code safe>{text}</code>
      </pre>
      <button type="button" class="quiet small" data-copy="before">
        Copy
      </button>
    </div>
  );
}

export interface EventField {
  readonly name: string;
  readonly value: string;
  /** Null once the page has enough links. */
  readonly includeHref: string | null;
  readonly excludeHref: string | null;
}

export interface EventLine {
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly level: Level | null;
  /** Of the columns before the text. */
  readonly cells: readonly string[];
  readonly text: string;
  readonly fields: readonly EventField[];
}

export interface LineColumn {
  readonly name: string;
  /** The same view without it; null where it stays. */
  readonly withoutHref: string | null;
}

export interface ResultCell {
  readonly text: string;
  readonly kind: 'text' | 'number' | 'time' | 'blank';
  /** Absent where no search can do that. */
  readonly includeHref?: string | null;
}

export interface EventResultsView {
  readonly isSql: boolean;
  readonly q: string;
  /** The first stage, when it searches by terms: histogram, fields and live tail use it. */
  readonly terms: string | null;
  /** Null: the result has other rows, in `columns` and `rows`. */
  readonly lines: readonly EventLine[] | null;
  readonly lineColumns: readonly LineColumn[];
  readonly columns: readonly { readonly name: string; readonly isNumeric: boolean }[];
  readonly rows: readonly (readonly ResultCell[])[];
  readonly mayReadEvents: boolean;
  /** For readers who may send events. */
  readonly sendsTo: string | null;
  /** The same search without its bounds of time; null where it has none. */
  readonly allTimeHref: string | null;
}

export function EventResults({ view }: { view: EventResultsView }) {
  const { lines, rows } = view;
  if ((lines ?? rows).length === 0) return <Empty view={view} />;
  return lines === null ? (
    <Table view={view} />
  ) : (
    <EventLines label="Events" lines={lines} columns={view.lineColumns} />
  );
}

interface EventLinesProps {
  readonly label: string;
  readonly lines: readonly EventLine[];
  readonly columns: readonly LineColumn[];
  /** The event that the others stand around. */
  readonly marked?: string;
}

export function EventLines({ label, lines, columns, marked }: EventLinesProps) {
  return (
    <div class="event-lines" data-columns={String(columns.length)}>
      <p class="lines-head">
        <span>Time</span>
        {columns.map(({ name, withoutHref }) => (
          <span>
            <span safe>{name}</span>{' '}
            {withoutHref !== null && (
              <a
                href={withoutHref}
                aria-label={`Without the column ${name}`}
                title="Without this column"
              >
                ×
              </a>
            )}
          </span>
        ))}
        <span>Event</span>
      </p>
      <ol class="lines" aria-label={label}>
        {lines.map((line) => (
          <li
            class={line.level === null ? undefined : `level-${line.level}`}
            data-id={line.id}
            aria-current={line.id === marked ? 'true' : undefined}
          >
            <Line line={line} isOpen={line.id === marked} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Line({ line, isOpen }: { line: EventLine; isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary>
        <UtcTime at={line.time} isExact />
        {line.cells.map((text) => (
          <span class="cell" title={text} safe>
            {text}
          </span>
        ))}
        <code class="line">
          <Breakable text={line.text} />
        </code>
      </summary>
      {line.id !== '' && !isOpen && (
        <p class="event-actions">
          <a href={`/events/${line.id}`}>Link to this event, and those around it</a>
        </p>
      )}
      <dl class="event-fields">
        {line.fields.map(({ name, value, includeHref, excludeHref }) => (
          <>
            <dt safe>{name}</dt>
            <dd>
              <span safe>{value}</span>
              {includeHref !== null && (
                <a href={includeHref} aria-label={`Only events with ${name} ${value}`}>
                  only
                </a>
              )}
              {excludeHref !== null && (
                <a href={excludeHref} aria-label={`Events without ${name} ${value}`}>
                  without
                </a>
              )}
            </dd>
          </>
        ))}
      </dl>
    </details>
  );
}

/** Long texts without spaces, such as JSON, may break behind their commas. */
function Breakable({ text }: { text: string }) {
  return (
    <>
      {breakableParts(text).map((part, index) => (
        <>
          {index !== 0 && <wbr />}
          {Bun.escapeHTML(part) as 'safe'}
        </>
      ))}
    </>
  );
}

function Table({ view }: { view: EventResultsView }) {
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
  if (kind === 'time') return <UtcTime at={text} isExact />;
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

function Empty({ view }: { view: EventResultsView }) {
  const { isSql, mayReadEvents, terms, q, allTimeHref, sendsTo } = view;
  if (!mayReadEvents && terms !== null) {
    return (
      <section class="empty">
        <p>
          You may not read any events yet. Whoever administers this server can give you the right to
          read an index.
        </p>
        {sendsTo !== null && <Send to={sendsTo} />}
      </section>
    );
  }
  if (isSql) return q.trim() === '' ? <></> : <p>No rows.</p>;
  const isPlain = q.trim() === '';
  const during = allTimeHref === null ? '' : ' in this time';
  return (
    <section class="empty">
      <p safe>
        {isPlain
          ? `No events${during}.`
          : terms === null
            ? 'No rows.'
            : `Nothing matches${during}.`}
      </p>
      {allTimeHref === null ? (
        isPlain ? (
          ''
        ) : (
          terms !== null && <p>Try fewer words.</p>
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
        <code>SVC_API_KEY</code>, or with a <a href="/docs/guide/shippers">log shipper</a>. What
        would be found in a line tells <a href="/events/explain">this form</a>.
      </p>
      <CopyLine
        text={`curl -H "X-API-Key: $SVC_API_KEY" ${header} -d '${body}' '${to}/api/events/'`}
      />
    </>
  );
}
