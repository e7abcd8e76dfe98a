/**
 * What the grid of a dataset page is told by the server, and the rows it works with.
 */

/** A column of the dataset. */
export interface GridColumn {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'boolean' | 'string';
  /** The reader of the page may change its cells. */
  readonly isWritable: boolean;
}

/** Everything about the dataset that does not change while its page is open. */
export interface GridData {
  /** How messages call the dataset: `products.csv`, `stock.xlsx (Prices)`. */
  readonly file: string;
  /** Files of it may be too large for a page to keep. */
  readonly isLarge: boolean;
  /** `/api/<name>/` and `/ui/<name>/`. */
  readonly api: string;
  readonly page: string;
  readonly mayWrite: boolean;
  /** The file tells an empty text from nothing. */
  readonly hasNull: boolean;
  /** Address of the script that draws charts, fetched when the first one is opened. */
  readonly chartScript: string;
  /** In file order. */
  readonly columns: readonly GridColumn[];
  /** Place of the row that the address names, among all rows in file order; null when it names none. */
  readonly startAt: number | null;
}

/** A cell as JSON has it; integers that no double holds are bigint. */
export type CellValue = string | number | bigint | boolean | null | object;

/** A row as the API sends it: `_row_id`, then every column. */
export type GridRow = Readonly<Record<string, CellValue>>;

/** The id of a row. */
export function idOf(row: GridRow): number {
  return Number(row['_row_id']);
}

/** A cell's value; null where the row has none. */
export function cellOf(row: GridRow, column: string): CellValue {
  return Object.hasOwn(row, column) ? row[column]! : null;
}

/** Whether there is nothing in the cell. */
export function isBlank(value: CellValue): boolean {
  return value === null || value === '';
}

/** What emptying cells of these columns leaves, where that is not plain to see; `''` elsewhere. */
export function blankNote({ hasNull, columns }: GridData, names: readonly string[]): string {
  const texts = columns.filter(({ name, type }) => type === 'string' && names.includes(name));
  if (!hasNull || texts.length === 0) return '';
  return ` In ${texts.map(({ name }) => name).join(', ')} that is an empty text, not null.`;
}

/** The cell as it is edited, copied and found in the file: no grouping, a point before decimals. */
export function plainText(value: CellValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Four digits stay together: most of them are years. */
const numbers = new Intl.NumberFormat(undefined, {
  maximumFractionDigits: 20,
  useGrouping: 'min2',
} as unknown as Intl.NumberFormatOptions);

/** A cell on one line, as long as anybody may see of it there: line breaks are signs, the row's details have all of it. */
export function lineText(value: CellValue): string {
  const text = shownText(value);
  return (text.length > MAX_LINE ? text.slice(0, MAX_LINE) : text).replaceAll(/\r\n|\r|\n/g, ' ↵ ');
}

/** Two lines of the widest column. */
const MAX_LINE = 400;

/** The cell as people of this place read it. */
export function shownText(value: CellValue): string {
  if (typeof value === 'bigint') return numbers.format(value);
  if (typeof value !== 'number') return plainText(value);
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e15 || size < 1e-6) ? String(value) : numbers.format(value);
}

const counts = new Intl.NumberFormat();

/** `1 row`, `1,234 rows`. */
export function countText(count: number, noun = 'row'): string {
  return `${counts.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Whether a text seems to be a value of the column: a first look, the server decides. */
export function fits(value: string, { type }: GridColumn): boolean {
  const text = value.trim();
  if (text === '' || type === 'string') return true;
  if (type === 'boolean') return /^(?:true|false|yes|no|0|1)$/i.test(text);
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text);
  return isNumber && (type === 'number' || /^[+-]?\d+$/.test(text));
}

const [group, decimal] = (['group', 'decimal'] as const).map((type) => {
  const part = new Intl.NumberFormat().formatToParts(1_234_567.8).find((one) => one.type === type);
  return `[${part?.value ?? ''}]`;
}) as [string, string];
const LOCAL_NUMBER = new RegExp(
  `^[+-]?(?:\\d+|\\d{1,3}(?:(?:${group}|\\s)\\d{3})+)(?:${decimal}\\d+)?$`,
);

/** A number as people of this place write it, as the file has it; any other text as it is. */
export function plainNumber(text: string, column: GridColumn): string {
  const isNumeric = column.type === 'integer' || column.type === 'number';
  if (!isNumeric || fits(text, column) || !LOCAL_NUMBER.test(text.trim())) return text;
  const bare = text.replaceAll(/\s/g, '').replaceAll(new RegExp(group, 'g'), '');
  return bare.replace(new RegExp(decimal), '.');
}

/** Rows of an answer. Integers past 2^53 keep their digits where the browser tells them. */
export function parseRows(text: string): GridRow[] {
  return JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown) as GridRow[];
}

function exactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const { source } = context ?? {};
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}
