/** What a finding is called in messages, and what templates may name of it. */
import { timestamp } from '../base/clock.ts';
import type { Message } from '../deliveries/message.ts';
import type { Firing } from './finding.ts';

/** Of the page and of the routes for programs. */
export const FINDINGS_PAGE = '/ui/findings';

/** Rows in a message; the finding has more of them. */
const MESSAGE_ROWS = 20;
const MESSAGE_ROW_BYTES = 16 * 1024;
/** Of the first row, in the plain text. */
const TEXT_COLUMNS = 8;
const TEXT_CHARACTERS = 200;

interface Counted {
  readonly id: number;
  readonly count: number;
  readonly status: string;
  readonly firstSeen: string;
}

export function messageOf(firing: Firing, rows: Firing['rows'], finding: Counted): Message {
  const { alert, severity, key, columns, query, from, to } = firing;
  const shown = firstRows(rows);
  const data = {
    alert: { id: alert.id, name: alert.name, source: alert.source },
    severity,
    at: moment(firing.at),
    key,
    finding: {
      id: finding.id,
      status: finding.status,
      count: finding.count,
      first_seen: finding.firstSeen,
      last_seen: moment(firing.at),
    },
    query,
    from: from === null ? null : moment(from),
    to: to === null ? null : moment(to),
    indexes: firing.indexes,
    datasets: firing.datasets,
    columns,
    row_count: firing.rows.length,
    rows: shown,
    row: shown[0] ?? {},
  };
  return {
    kind: 'alert',
    title: key === '' ? alert.name : `${alert.name}: ${key}`,
    text: plainText(firing, finding, shown[0]),
    severity,
    links: {
      finding: `${FINDINGS_PAGE}/${finding.id}`,
      events: eventsLink(firing),
    },
    data,
  };
}

/** The events that the query looked at, or the query itself where it begins with something else, in the explorer. */
export function eventsLink({ query, from, to }: Pick<Firing, 'query' | 'from' | 'to'>): string {
  return explorerLink({ query: eventPart(query), from, to });
}

/** The same query over the same time. */
export function explorerLink({ query, from, to }: Pick<Firing, 'query' | 'from' | 'to'>): string {
  const asked = new URLSearchParams({ q: query });
  if (from !== null) asked.set('earliest', moment(from));
  if (to !== null) asked.set('latest', moment(to));
  return `/events?${asked}`;
}

/** Up to the first pipe outside of quotes. */
function eventPart(query: string): string {
  if (/^\s*(?:\||from\b|--|select\b|with\b)/i.test(query)) return query;
  const [head = ''] = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^|])*/s.exec(query) ?? [];
  return head.trim() === '' ? query : head.trim();
}

/** The names a template may use; a name below `row.` is a column, which only a run knows. */
export const ALERT_SAMPLE: Message = messageOf(
  {
    alert: { id: '1', name: 'Failed logins', source: '', ownerId: null },
    severity: 'high',
    at: 1_700_000_000_000_000,
    key: '203.0.113.9',
    columns: ['address', 'count'],
    rows: [{ address: '203.0.113.9', count: 12 }],
    query: 'index=auth | stats count by address',
    from: 1_699_999_700_000_000,
    to: 1_700_000_000_000_000,
    indexes: ['auth'],
    datasets: [],
    deliveries: [],
  },
  [{ address: '203.0.113.9', count: 12 }],
  { id: 1, count: 1, status: 'new', firstSeen: '2023-11-14T22:13:20.000Z' },
);

function firstRows(rows: Firing['rows']): Firing['rows'] {
  let bytes = 0;
  const fits = rows.slice(0, MESSAGE_ROWS).findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > MESSAGE_ROW_BYTES;
  });
  return rows.slice(0, fits < 0 ? MESSAGE_ROWS : fits);
}

function plainText(
  { columns, rows, at }: Firing,
  { count }: Counted,
  first: Firing['rows'][number] | undefined,
): string {
  const number = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  const lines = [`${number} at ${moment(at)}${count > 1 ? `, seen ${count} times` : ''}`];
  for (const column of first === undefined ? [] : columns.slice(0, TEXT_COLUMNS)) {
    const value = first?.[column];
    if (value === undefined || value === null) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    lines.push(
      `${column}: ${text.length > TEXT_CHARACTERS ? `${text.slice(0, TEXT_CHARACTERS).toWellFormed()}…` : text}`,
    );
  }
  return lines.join('\n');
}

function moment(microseconds: number): string {
  return timestamp(Math.floor(microseconds / 1000));
}
