/**
 * Which rows a JSON file holds, if any: lines of objects, a list of objects (the file, or the one list in it), the
 * features of GeoJSON, or columns side by side as pandas writes them.
 */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { AppError, unreadable } from '../../src/base/errors.ts';
import type { ReadOptions } from '../../src/tables/types.ts';
import { textOf } from './cells.ts';
import { eachElement, JsonFault, MemberSpans, skipSpace } from './scan.ts';
import { strictText } from '../../src/base/text/text-bytes.ts';
import type { RowPlace } from './row-stream.ts';

export type Shape =
  | {
      readonly kind: 'rows';
      readonly place: RowPlace;
      readonly isFeatures: boolean;
      readonly isWhole: boolean;
    }
  | { readonly kind: 'columns'; readonly text: string; readonly columns: readonly ValueColumn[] };

/** Values of one column; all columns have as many. */
export interface ValueColumn {
  readonly name: string;
  /** Positions in the text where a value begins and ends, in turns. */
  readonly spans: readonly number[];
}

/** An object is looked through as a whole, in memory. */
export const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
/** Enough to tell a list, and lines from one object. */
const HEAD_BYTES = 65_536;
/** A list may stand in an object in an object in the file's object. */
const MAX_LIST_DEPTH = 3;

/** Files of these names are lines, whatever they hold. */
const LINES = /^\.(?:ndjson|jsonl)\b/;

/** Null: no rows. Throws `unreadable-file` for an object past 256 MiB. */
export async function shapeOf(
  source: FileSource,
  { extension = '.json', path, orient }: ReadOptions,
): Promise<Shape | null> {
  const head = await readBytes(source, 0, HEAD_BYTES);
  const mark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  if (LINES.test(extension)) return rowsAt(mark, false);
  const start = head.subarray(mark).toString('latin1');
  const first = skipSpace(start, 0);
  if (start[first] === '[') {
    const isRows = /^[{\]]/.test(start.slice(skipSpace(start, first + 1)));
    return isRows ? rowsAt(mark + first + 1, true) : null;
  }
  if (start[first] !== '{') return null;
  const isShort = source.size <= HEAD_BYTES;
  const end = new MemberSpans().scan(start, first);
  const next = end < 0 ? '' : start.charAt(skipSpace(start, end));
  if (next === '{') return rowsAt(mark, false);
  if (next !== '' || (end >= 0 && !isShort)) return null;
  if (source.size > MAX_OBJECT_BYTES) {
    throw unreadable(
      `an object of more than ${MAX_OBJECT_BYTES} bytes; a list or lines may be longer`,
    );
  }
  const text = strictText(await readBytes(source, mark, source.size - mark), 'utf-8', mark);
  return shapeOfObject(text, mark, { path, orient });
}

/** Whether a file of this name is published as rows. */
export async function hasRows(source: FileSource, options: ReadOptions): Promise<boolean> {
  try {
    return (await shapeOf(source, options)) !== null;
  } catch (error) {
    if (error instanceof JsonFault || (error instanceof AppError && error.status === 422))
      return false;
    throw error;
  }
}

function rowsAt(from: number, isList: boolean): Shape {
  return { kind: 'rows', place: { from, isList }, isFeatures: false, isWhole: true };
}

function shapeOfObject(
  text: string,
  mark: number,
  { path, orient }: Pick<ReadOptions, 'path' | 'orient'>,
): Shape | null {
  const from = skipSpace(text, 0);
  const members = new MemberSpans();
  const end = members.scan(text, from);
  if (end < 0 || skipSpace(text, end) < text.length) return null;
  const listAt = (at: number, isFeatures: boolean): Shape => ({
    kind: 'rows',
    place: { from: mark + Buffer.byteLength(text.slice(0, at + 1)), isList: true },
    isFeatures,
    isWhole: false,
  });
  if (orient === 'index') {
    const indexed = indexedRowsIn(text, members, true);
    return indexed && { kind: 'columns', text, columns: indexed };
  }
  if (path !== undefined) {
    const at = memberAt(text, from, path.split('.'));
    return text[at] === '[' ? listAt(at, false) : null;
  }
  const features = featuresIn(text, members);
  if (features >= 0) return listAt(features, true);
  const columns =
    splitColumnsIn(text, members) ??
    columnsIn(text, members) ??
    indexedRowsIn(text, members, false);
  if (columns) return { kind: 'columns', text, columns };
  const list = onlyListIn(text, from);
  return list < 0 ? null : listAt(list, false);
}

function featuresIn(text: string, members: MemberSpans): number {
  const valueOf = (name: string): string | null => {
    for (let member = 0; member < members.count; member++) {
      if (text.slice(members.nameFrom(member), members.nameTo(member)) !== name) continue;
      return text.slice(members.valueFrom(member), members.valueFrom(member) + 20);
    }
    return null;
  };
  if (valueOf('type')?.startsWith('"FeatureCollection"') !== true) return -1;
  for (let member = 0; member < members.count; member++) {
    const isFeatures = text.slice(members.nameFrom(member), members.nameTo(member)) === 'features';
    const at = members.valueFrom(member);
    if (isFeatures && text[at] === '[') return at;
  }
  return -1;
}

/** Where the value of a path begins; -1 without it. */
function memberAt(text: string, object: number, path: readonly string[]): number {
  const members = new MemberSpans();
  let at = object;
  for (const name of path) {
    if (text[at] !== '{') return -1;
    members.scan(text, at);
    at = -1;
    for (let member = 0; member < members.count; member++) {
      const written = text.slice(members.nameFrom(member) - 1, members.nameTo(member) + 1);
      if (textOf(written, members.nameFrom(member)) === name) at = members.valueFrom(member);
    }
  }
  return at;
}

/** At the least depth; -1 without one, and with several. */
function onlyListIn(text: string, root: number): number {
  let level = [root];
  const members = new MemberSpans();
  for (let depth = 0; depth < MAX_LIST_DEPTH && level.length > 0; depth++) {
    const lists: number[] = [];
    const below: number[] = [];
    for (const object of level) {
      members.scan(text, object);
      for (let member = 0; member < members.count; member++) {
        const at = members.valueFrom(member);
        if (text[at] === '{') below.push(at);
        else if (text[at] === '[' && isListOfObjects(text, at)) lists.push(at);
      }
    }
    if (lists.length > 0) return lists.length === 1 ? lists[0]! : -1;
    level = below;
  }
  return -1;
}

function isListOfObjects(text: string, at: number): boolean {
  let count = 0;
  return eachElement(text, at, (from) => text[from] === '{' && ++count > 0) >= 0 && count > 0;
}

/** `{"a":[1,2],"b":[3,4]}`, or pandas' own `{"a":{"0":1,"1":2},"b":{"0":3,"1":4}}`. */
function columnsIn(text: string, members: MemberSpans): ValueColumn[] | null {
  const columns: ValueColumn[] = [];
  let length = -1;
  for (let member = 0; member < members.count; member++) {
    const at = members.valueFrom(member);
    const spans =
      text[at] === '[' ? elementsAt(text, at) : text[at] === '{' ? numberedAt(text, at) : null;
    if (spans === null || spans.length === 0 || (length >= 0 && spans.length !== length))
      return null;
    length = spans.length;
    const written = text.slice(members.nameFrom(member), members.nameTo(member));
    columns.push({ name: textOf(`"${written}"`, at), spans });
  }
  const isIndexed = text[members.valueFrom(0)] === '{';
  return columns.length > 1 || (columns.length === 1 && isIndexed) ? columns : null;
}

/**
 * pandas' `{"0":{"a":1,"b":2},"1":{"a":3,"b":4}}`, rows with the same names. A declared one may have any index, which is a
 * column; else the rows are numbered, two at least.
 */
function indexedRowsIn(text: string, rows: MemberSpans, isDeclared: boolean): ValueColumn[] | null {
  const index: number[] = [];
  const columns: { name: string; spans: number[] }[] = [];
  const members = new MemberSpans();
  let isNumbered = true;
  for (let row = 0; row < rows.count; row++) {
    isNumbered &&= text.slice(rows.nameFrom(row), rows.nameTo(row)) === String(row);
    if (text[rows.valueFrom(row)] !== '{' || !(isDeclared || isNumbered)) return null;
    index.push(rows.nameFrom(row) - 1, rows.nameTo(row) + 1);
    members.scan(text, rows.valueFrom(row));
    if (row > 0 && members.count !== columns.length) return null;
    for (let member = 0; member < members.count; member++) {
      const written = text.slice(members.nameFrom(member), members.nameTo(member));
      const name = textOf(`"${written}"`, members.nameFrom(member));
      const column = row === 0 ? { name, spans: [] } : columns[member]!;
      if (row === 0) columns.push(column);
      if (column.name !== name) return null;
      column.spans.push(members.valueFrom(member), members.valueTo(member));
    }
  }
  if (columns.length === 0 || (!isDeclared && rows.count < 2)) return null;
  return isNumbered ? columns : [{ name: 'index', spans: index }, ...columns];
}

/** pandas' `{"columns":["a","b"],"index":[0],"data":[[1,2]]}`. */
function splitColumnsIn(text: string, members: MemberSpans): ValueColumn[] | null {
  const lists = new Map<string, number>();
  for (let member = 0; member < members.count; member++) {
    const name = text.slice(members.nameFrom(member), members.nameTo(member));
    if (!['columns', 'index', 'data'].includes(name)) return null;
    lists.set(name, members.valueFrom(member));
  }
  const [names, data] = [lists.get('columns') ?? -1, lists.get('data') ?? -1];
  if (text[names] !== '[' || text[data] !== '[') return null;
  const columns: { name: string; spans: number[] }[] = [];
  const isNamed = eachElement(text, names, (from, to) => {
    if (text[from] !== '"') return false;
    return columns.push({ name: textOf(text.slice(from, to), from), spans: [] }) > 0;
  });
  const isWhole = eachElement(text, data, (row) => {
    if (text[row] !== '[') return false;
    let width = 0;
    const end = eachElement(text, row, (from, to) => {
      columns[width]?.spans.push(from, to);
      return ++width <= columns.length;
    });
    return end >= 0 && width === columns.length;
  });
  return isNamed >= 0 && isWhole >= 0 && columns.length > 0 ? columns : null;
}

function elementsAt(text: string, at: number): number[] | null {
  const spans: number[] = [];
  const end = eachElement(text, at, (from, to) => {
    if (text[from] === '{') return false;
    return spans.push(from, to) > 0;
  });
  return end < 0 ? null : spans;
}

function numberedAt(text: string, at: number): number[] | null {
  const members = new MemberSpans();
  members.scan(text, at);
  const spans: number[] = [];
  for (let member = 0; member < members.count; member++) {
    const name = text.slice(members.nameFrom(member), members.nameTo(member));
    if (name !== String(member)) return null;
    spans.push(members.valueFrom(member), members.valueTo(member));
  }
  return spans;
}
