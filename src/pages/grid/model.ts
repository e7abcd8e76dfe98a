export interface GridColumn {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'boolean' | 'string';
  /** Its texts are dates. */
  readonly format?: 'date' | 'date-time';
  readonly isWritable: boolean;
}

/** Constant while the page is open. */
export interface GridData {
  /** The dataset's name in messages: `products.csv`, `stock.xlsx (Prices)`. */
  readonly file: string;
  /** Downloads may be too large to build in the page. */
  readonly isLarge: boolean;
  readonly api: string;
  readonly page: string;
  readonly mayWrite: boolean;
  /** Who looks at the page. */
  readonly username: string;
  /** Where it is said how the file is read; null for those who may not. */
  readonly layoutHref: string | null;
  readonly historyHref: string | null;
  /** The file distinguishes an empty text from no value. */
  readonly hasNull: boolean;
  /** For whoever has a link: nothing leads out of what it shows. */
  readonly isShared: boolean;
  /** And neither rows, order nor columns are chosen. */
  readonly isFixed: boolean;
  readonly chartScript: string;
  readonly columns: readonly GridColumn[];
  /** Position in file order of the row that the address names; null when it names none. */
  readonly startAt: number | null;
}

/** Integers that a double cannot hold are bigint. */
export type CellValue = string | number | bigint | boolean | null | object;

export type GridRow = Readonly<Record<string, CellValue>>;

export function idOf(row: GridRow): number {
  return Number(row['_row_id']);
}

export function cellOf(row: GridRow, column: string): CellValue {
  return Object.hasOwn(row, column) ? row[column]! : null;
}

export function isBlank(value: CellValue): boolean {
  return value === null || value === '';
}

/** What clearing cells of these columns leaves, where that is not obvious; else `''`. */
export function blankNote({ hasNull, columns }: GridData, names: readonly string[]): string {
  const texts = columns.filter(({ name, type }) => type === 'string' && names.includes(name));
  if (!hasNull || texts.length === 0) return '';
  return ` In ${texts.map(({ name }) => name).join(', ')} that is an empty text, not null.`;
}

/** As edited, copied and found in the file: no grouping, a point before decimals. */
export function plainText(value: CellValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** No grouping of four digits: most of them are years. */
const numbers = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 20,
  useGrouping: 'min2',
} as unknown as Intl.NumberFormatOptions);

/** On one line and cut to MAX_LINE; signs stand for line breaks. The row's details show all of it. */
export function lineText(value: CellValue): string {
  const text = shownText(value);
  return (text.length > MAX_LINE ? text.slice(0, MAX_LINE) : text).replaceAll(/\r\n|\r|\n/g, ' ↵ ');
}

const MAX_LINE = 400;

/** In the number and date format of the reader. */
export function shownText(value: CellValue): string {
  if (typeof value === 'bigint') return numbers.format(value);
  if (typeof value !== 'number') return plainText(value);
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e15 || size < 1e-6) ? String(value) : numbers.format(value);
}

const counts = new Intl.NumberFormat();

export function countText(count: number, noun = 'row'): string {
  return `${counts.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function listText(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names);
}

/** A first check; the server decides. */
export function fits(value: string, { type }: GridColumn): boolean {
  const text = value.trim();
  if (text === '' || type === 'string') return true;
  if (type === 'boolean') return /^(?:true|false|yes|no|0|1)$/i.test(text);
  const isNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
  return isNumber && (type === 'number' || /^[+-]?\d+$/.test(text));
}

const [group, decimal] = (['group', 'decimal'] as const).map((type) => {
  const part = new Intl.NumberFormat().formatToParts(1_234_567.8).find((one) => one.type === type);
  return `[${part?.value ?? ''}]`;
}) as [string, string];
const LOCAL_NUMBER = new RegExp(
  `^[+-]?(?:\\d+|\\d{1,3}(?:(?:${group}|\\s)\\d{3})+)(?:${decimal}\\d+)?$`,
);

/** A number typed in the reader's format, as the file has it; any other text unchanged. */
export function plainNumber(text: string, column: GridColumn): string {
  const isNumeric = column.type === 'integer' || column.type === 'number';
  if (!isNumeric || fits(text, column) || !LOCAL_NUMBER.test(text.trim())) return text;
  const bare = text.replaceAll(/\s/g, '').replaceAll(new RegExp(group, 'g'), '');
  return bare.replace(new RegExp(decimal), '.');
}

/** Integers past 2^53 keep their digits where the browser gives their source text. */
export function parseRows(text: string): GridRow[] {
  return JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown) as GridRow[];
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const { source } = context ?? {};
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}
