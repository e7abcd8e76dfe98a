/** Rows of a row group: which of them are wanted, and their columns, each read when first asked for. */
import { type Column, columnOf, type NumberColumn, type Selection } from '../../columns/column.ts';
import { foldedText } from '../read/term.ts';
import { memberOf } from './field-columns.ts';
import type { Part } from './manifest.ts';
import { FIELD_PREFIX, type PartColumn } from './part-format.ts';
import { type Group, numberOfJson, type PartReader, type TextColumn } from './part-reader.ts';

/** What every wanted event fulfils. Null: no limit. */
export interface PartHint {
  readonly indexes: readonly string[] | null;
  /** Of `_time`; the upper bounds of both are inclusive. */
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly lowestId: number | null;
  readonly highestId: number | null;
  /** Folded texts of `data`, or of any member but the times. */
  readonly terms: readonly { readonly folded: string; readonly inData: boolean }[];
  /** Texts of a column, and values of a member of `fields`, that may be those of a wanted event. */
  readonly texts: readonly {
    readonly column: 'sourcetype' | 'source' | 'host';
    readonly test: (text: string) => boolean;
  }[];
  readonly members: readonly {
    readonly member: string;
    readonly test: (value: unknown) => boolean;
  }[];
  /** Both inclusive. */
  readonly times: readonly {
    readonly column: 'created' | 'updated';
    readonly from: number;
    readonly to: number;
  }[];
}

export const NO_HINT: PartHint = {
  indexes: null,
  earliest: null,
  latest: null,
  lowestId: null,
  highestId: null,
  terms: [],
  texts: [],
  members: [],
  times: [],
};

/** Of the event database; `time` last. */
export const COLUMNS = [
  'id',
  'created',
  'updated',
  'event_time',
  'index',
  'sourcetype',
  'source',
  'host',
  'data',
  'fields',
  'ascii',
  'bytes',
  'time',
] as const;
export type Named = (typeof COLUMNS)[number];
export type Cells = (row: number) => string | number | null;

/** Counted in a byte. */
const MANY_TERMS = 255;
const TEXTS = ['sourcetype', 'source', 'host', 'data'] as const;
type TextName = (typeof TEXTS)[number];

export class GroupRows {
  readonly #reader: PartReader;
  readonly #part: Part;
  readonly #group: Group;
  readonly #onPlain: (member: string) => void;
  readonly #read = new Map<string, unknown>();

  /** `onPlain` is told of members that are no columns but are asked for. */
  constructor(
    reader: PartReader,
    part: Part,
    group: Group,
    onPlain: (member: string) => void = () => {},
  ) {
    this.#onPlain = onPlain;
    this.#reader = reader;
    this.#part = part;
    this.#group = group;
  }

  get rows(): number {
    return this.#group.rows;
  }

  /** By number, ascending. */
  kept(hint: PartHint, gone: ReadonlySet<number> | null): Uint32Array {
    return placesOf(this.selection(hint, gone), this.rows);
  }

  selection(hint: PartHint, gone: ReadonlySet<number> | null): Selection {
    const { rows, minId, maxId, minTime, maxTime } = this.#group;
    const { earliest, latest, lowestId, highestId, terms, members } = hint;
    const selected = new Uint8Array(rows).fill(1);
    const within = (
      name: PartColumn,
      low: number | null,
      high: number | null,
      has: readonly [number, number],
    ): void => {
      const from = low !== null && low > has[0] ? low : -Infinity;
      const to = high !== null && high < has[1] ? high : Infinity;
      if (from === -Infinity && to === Infinity) return;
      const { numbers } = this.#numbers(name);
      for (let row = 0; row < rows; row++)
        if (numbers[row]! < from || numbers[row]! > to) selected[row] = 0;
    };
    within('id', lowestId, highestId, [minId, maxId]);
    within('time', earliest, latest, [minTime, maxTime]);
    for (const { column, from, to } of hint.times) within(column, from, to, [-Infinity, Infinity]);
    if (gone !== null) {
      const { numbers } = this.#numbers('id');
      for (let row = 0; row < rows; row++) if (gone.has(numbers[row]!)) selected[row] = 0;
    }
    const byText = ({ texts, codes }: TextColumn, isOne: (text: string) => boolean): void => {
      // 2: not asked yet.
      const known = new Uint8Array(texts.length).fill(2);
      for (let row = 0; row < rows; row++) {
        if (selected[row] === 0) continue;
        const code = codes[row]!;
        if (code >= 0 && known[code] === 2) known[code] = isOne(texts.at(code)) ? 1 : 0;
        selected[row] = code < 0 ? 0 : known[code]!;
      }
    };
    for (const { column, test } of hint.texts) byText(this.#texts(column), test);
    for (const { member, test } of members) {
      if (this.#hasMember(member)) {
        byText(this.#texts(FIELD_PREFIX + member), (json) => test(JSON.parse(json)));
        continue;
      }
      const jsonAt = this.member(member);
      for (let row = 0; row < rows; row++) {
        if (selected[row] === 0) continue;
        const json = jsonAt(row);
        selected[row] = json !== null && test(JSON.parse(json)) ? 1 : 0;
      }
    }
    const inData = terms.filter((term) => term.inData).map(({ folded }) => folded);
    if (inData.length > 0 && this.#group.ascii && inData.length < MANY_TERMS) {
      const { texts, codes } = this.#texts('data');
      const has = texts.having(inData);
      for (let row = 0; row < rows; row++) if (has[codes[row]!] !== 1) selected[row] = 0;
    } else if (inData.length > 0)
      byText(this.#texts('data'), (text) => {
        const folded = foldedText(text);
        return inData.every((term) => folded.includes(term));
      });
    return selected.includes(0) ? selected : null;
  }

  #hasMember(name: string): boolean {
    return this.#group.fields?.includes(name) ?? false;
  }

  /** Objects with these members alone; null where they are no columns. */
  fieldsOf(members: readonly string[]): ((row: number) => string) | null {
    if (!members.every((name) => this.#hasMember(name))) return null;
    const columns = members.map((name) => ({ name, ...this.#texts(FIELD_PREFIX + name) }));
    return (row) => {
      let text = '';
      for (const { name, codes, texts } of columns) {
        const code = codes[row]!;
        if (code >= 0) text += `${text === '' ? '' : ','}"${name}":${texts.at(code)}`;
      }
      return `{${text}}`;
    };
  }

  column(name: Named): Cells {
    const group = this.#group;
    switch (name) {
      case 'ascii':
        // Only a hint for SQL: 0 is right for any text.
        return () => (group.ascii ? 1 : 0);
      case 'index':
        return () => this.#part.index;
      case 'fields': {
        const fields = this.#cells('fields');
        if (!this.#texts('fields').codes.includes(-1)) return fields;
        const data = this.#cells('data');
        return (row) => fields(row) ?? data(row);
      }
      default: {
        if (isText(name)) return this.#cells(name);
        const { numbers, present } = this.#numbers(name);
        return (row) => (present?.[row] === 0 ? null : numbers[row]!);
      }
    }
  }

  /** Rows of these columns. */
  rowsOf<Row>(names: readonly Named[]): (row: number) => Row {
    const columns = names.map((name) => ({ name, at: this.column(name) }));
    return (row) => {
      const made: Record<string, unknown> = {};
      for (const { name, at } of columns) made[name] = at(row);
      return made as Row;
    };
  }

  /** JSON of a member of `fields`. */
  member(name: string): (row: number) => string | null {
    if (this.#hasMember(name)) return this.#cells(FIELD_PREFIX + name);
    this.#onPlain(name);
    const fields = this.column('fields') as (row: number) => string;
    return (row) => memberOf(fields(row), name);
  }

  /** As a batch has it. */
  batchColumn(name: Exclude<Named, 'ascii' | 'fields'>): Column {
    if (name === 'index')
      return { kind: 'dictionary', codes: new Uint8Array(this.rows), entries: [this.#part.index] };
    if (isText(name)) return dictionaryOf(this.#texts(name), (text) => text);
    const { numbers, present } = this.#numbers(name);
    return numbersWith(numbers, present);
  }

  /** As a batch has it: entries are JSON, and numbers where they are asked for and hold all digits. */
  batchMember(name: string, hasNumbers: boolean): Column {
    const entryOf = (json: string): string | number =>
      hasNumbers ? (numberOfJson(json) ?? json) : json;
    if (!this.#hasMember(name)) {
      const json = this.member(name);
      const cells = Array.from({ length: this.rows }, (_, row) => {
        const text = json(row);
        return text === null ? null : entryOf(text);
      });
      return columnOf(cells);
    }
    const column = this.#texts(FIELD_PREFIX + name);
    return (hasNumbers && plainNumbers(column)) || dictionaryOf(column, entryOf);
  }

  #cells(name: string): (row: number) => string | null {
    const { texts, codes } = this.#texts(name);
    return (row) => (codes[row]! < 0 ? null : texts.at(codes[row]!));
  }

  #texts(name: string): TextColumn {
    return this.#once(name, () => this.#reader.texts(this.#group, name));
  }

  #numbers(name: PartColumn) {
    return this.#once(name, () => this.#reader.numbers(this.#group, name));
  }

  #once<T>(name: string, read: () => T): T {
    let known = this.#read.get(name) as T | undefined;
    if (known === undefined) this.#read.set(name, (known = read()));
    return known;
  }
}

function isText(name: string): name is TextName {
  return (TEXTS as readonly string[]).includes(name);
}

/** Of `rows` rows those that are selected. */
export function placesOf(selection: Selection, rows: number): Uint32Array {
  const places = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) if (selection?.[row] !== 0) places[count++] = row;
  return places.subarray(0, count);
}

function dictionaryOf(
  { texts, codes }: TextColumn,
  entryOf: (text: string) => string | number,
): Column {
  const entries: (string | number | null)[] = texts.all().map(entryOf);
  if (!codes.includes(-1)) return { kind: 'dictionary', codes, entries };
  const nulls = entries.push(null) - 1;
  return { kind: 'dictionary', codes: codes.map((code) => (code < 0 ? nulls : code)), entries };
}

/** Null where texts are repeated, or one is no number. */
function plainNumbers({ texts, codes, isPlain }: TextColumn): Column | null {
  if (!isPlain) return null;
  const numbers = new Float64Array(codes.length);
  const present = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) {
    if (codes[row]! < 0) continue;
    const number = texts.number(codes[row]!);
    if (typeof number === 'string') return null;
    numbers[row] = number;
    present[row] = 1;
  }
  return numbersWith(numbers, present);
}

/** `present` is 0 for rows without one; null when all have one. */
function numbersWith(numbers: Float64Array, present: Uint8Array | null): NumberColumn {
  let nulls: Uint8Array | null = null;
  let [least, most] = [Infinity, -Infinity];
  let isWhole = true;
  for (let row = 0; row < numbers.length; row++) {
    if (present?.[row] === 0) {
      nulls ??= new Uint8Array((numbers.length + 7) >> 3);
      nulls[row >> 3]! |= 1 << (row & 7);
      continue;
    }
    const number = numbers[row]!;
    if (number < least) least = number;
    if (number > most) most = number;
    if (isWhole && (number | 0) !== number) isWhole = false;
  }
  const values = isWhole ? Int32Array.from(numbers) : numbers;
  return { kind: 'numbers', values, nulls, least, most };
}
