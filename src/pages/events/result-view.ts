import { JsonNumber } from '../../base/json/json.ts';
import { type Level, levelNamed } from '../../base/text/level-names.ts';
import { parseTime, timeText } from '../../events/event-time.ts';
import { fieldTerm, termsAdder } from '../../language/syntax/refine.ts';
import type {
  EventField,
  EventLine,
  EventResultsView,
  LineColumn,
  ResultCell,
} from './event-results.tsx';
import { addressOf, type Asked } from './explorer-state.ts';

/** Characters of all links; fields beyond get none. */
const MAX_LINK_CHARACTERS = 512 * 1024;
/** Fields that few events have can be of any number. */
const MAX_FIELD_COLUMNS = 20;
/** Where programs write the level, the usual ones first. */
const LEVEL_FIELDS = [
  'level',
  'severity',
  'severity_name',
  'log_level',
  'loglevel',
  'lvl',
  'priority',
];
/** More leave no room for the text. */
const MAX_LINE_COLUMNS = 6;
const SHOWN_MEMBERS = ['id', 'data', 'extracted_fields', 'created', 'updated'];

export interface ResultForm extends Pick<
  EventResultsView,
  'lines' | 'lineColumns' | 'columns' | 'rows'
> {
  readonly isTable: boolean;
  readonly otherForm: { readonly label: string; readonly href: string } | null;
}

/** Events as lines or as a table, as the reader chose; other rows always as a table. */
export function formOf(
  rows: readonly ResultRow[],
  columns: readonly { readonly name: string; readonly type: string }[],
  asked: Asked,
  isEvents: boolean,
): ResultForm {
  const { isTable } = asked;
  const otherForm =
    isEvents && rows.length > 0
      ? {
          label: isTable ? 'As lines' : 'As a table',
          href: addressOf({ ...asked, isTable: !isTable }),
        }
      : null;
  const lineColumns = columnsOf(asked);
  if (isEvents && isTable)
    return { lines: null, lineColumns, isTable, otherForm, ...eventTable(rows, asked) };
  return {
    lines: isEvents || rows.length === 0 ? linesOf(rows, asked) : null,
    lineColumns,
    isTable,
    otherForm,
    columns: columns.map(({ name, type }) => ({ name, isNumeric: type === 'number' })),
    rows: rows.map((row) => columns.map(({ name, type }) => cellOf(row[name], type))),
  };
}

/** A column for each field, the most frequent first; the text is last. */
function eventTable(
  rows: readonly ResultRow[],
  asked: Asked,
): Pick<EventResultsView, 'columns' | 'rows'> {
  const refine = refinerOf(asked);
  const lines = rows.map((row) => lineOf(row, [], () => null));
  const counts = new Map<string, number>();
  for (const { fields } of lines) {
    for (const { name } of fields) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = [...counts]
    .filter(([name]) => name !== '_time' && name !== 'event_time')
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_FIELD_COLUMNS)
    .map(([name]) => name);
  const cellWith = (text: string): ResultCell => ({ text, kind: text === '' ? 'blank' : 'text' });
  const fieldCell = (name: string, value: string | undefined): ResultCell =>
    value === undefined
      ? cellWith('')
      : { ...cellWith(value), includeHref: refine(fieldTerm(name, value, false)) };
  return {
    columns: ['_time', ...names, 'data'].map((name) => ({ name, isNumeric: false })),
    rows: lines.map((line) => {
      const values = new Map(line.fields.map(({ name, value }) => [name, value]));
      const cells = names.map((name) => fieldCell(name, values.get(name)));
      return [{ text: line.time, kind: 'time' as const }, ...cells, cellWith(line.text)];
    }),
  };
}

export type ResultRow = Readonly<Record<string, unknown>>;
/** Null once the page has enough links. */
type Refine = (terms: string) => string | null;

export function linesOf(rows: readonly ResultRow[], asked: Asked): EventLine[] {
  const refine = refinerOf(asked);
  const names = lineColumnNames(asked);
  return rows.map((row) => lineOf(row, names, refine));
}

/** The host unless the reader chose others; `none` for none. */
function lineColumnNames({ view: { columns = 'host' } }: Asked): string[] {
  const names = columns === 'none' ? [] : columns.split(',').filter((name) => name !== '');
  return [...new Set(names)].slice(0, MAX_LINE_COLUMNS);
}

export function columnsOf(asked: Asked): LineColumn[] {
  const names = lineColumnNames(asked);
  return names.map((name) => {
    const left = names.filter((other) => other !== name).join(',');
    const view = { ...asked.view, columns: left || 'none' };
    return { name, withoutHref: addressOf({ ...asked, view }) };
  });
}

function refinerOf(asked: Asked): Refine {
  const withTerms = termsAdder(asked.q);
  let left = MAX_LINK_CHARACTERS;
  return (terms) => {
    if (left <= 0) return null;
    const address = addressOf({ ...asked, q: withTerms(terms) });
    left -= address.length;
    return address;
  };
}

function lineOf(row: ResultRow, columns: readonly string[], refine: Refine): EventLine {
  const extracted = row['extracted_fields'];
  const members = Object.entries(row).filter(([name]) => !SHOWN_MEMBERS.includes(name));
  const own = isObject(extracted) ? Object.entries(extracted) : [];
  const fields = [...members, ...own].filter(([, value]) => value !== null && value !== '');
  const values = new Map(fields);
  return {
    id: textOf(row['id']),
    time: textOf(row['_time'] ?? eventTimeIn(extracted) ?? row['created']),
    level: levelOf(values),
    cells: columns.map((name) => textOf(values.get(name) ?? nestedIn(values, name))),
    text: textOf(row['data']),
    fields: fields.map(([name, value]) => fieldOf(name, value, refine)),
  };
}

/** As it says itself, else by the status of an answer. */
function levelOf(fields: ReadonlyMap<string, unknown>): Level | null {
  for (const name of LEVEL_FIELDS) {
    const level = levelNamed(textOf(fields.get(name)));
    if (level !== null) return level;
  }
  const status = textOf(fields.get('status'));
  if (/^5\d\d$/.test(status)) return 'error';
  return /^4\d\d$/.test(status) ? 'warn' : null;
}

/** `user.name` of an object `user`. */
function nestedIn(fields: ReadonlyMap<string, unknown>, name: string): unknown {
  const [first = '', ...path] = name.split('.');
  return path.reduce<unknown>(
    (value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
    fields.get(first),
  );
}

/** Null when the event's own `time` field is no time. */
function eventTimeIn(fields: unknown): string | null {
  const told = isObject(fields) ? fields['event_time'] : null;
  const micros = typeof told === 'string' ? parseTime(told) : null;
  return micros === null ? null : timeText(micros);
}

function fieldOf(name: string, value: unknown, refine: Refine): EventField {
  const plain = value instanceof JsonNumber ? textOf(value) : value;
  return {
    name,
    value: textOf(value),
    includeHref: refine(fieldTerm(name, plain, false)),
    excludeHref: refine(fieldTerm(name, plain, true)),
  };
}

function cellOf(value: unknown, type: string): ResultCell {
  if (value === null || value === undefined) return { text: '', kind: 'blank' };
  const kind = type === 'time' ? 'time' : isNumber(value) ? 'number' : 'text';
  return { text: textOf(value), kind };
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof JsonNumber;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  if (typeof value !== 'object') return String(value);
  return JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof JsonNumber) return member.value;
    return typeof member === 'bigint' ? String(member) : member;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
