/**
 * Companion files beside a dataset: declared types and reading options.
 *
 * Written by hand, so nothing in them may stop a dataset from being read: unusable parts are left out and named in a
 * problem text, which never holds a path.
 */
import { type AppError, unreadable } from '../../base/errors.ts';
import { ENCODINGS, type ReadOptions } from '../types.ts';
import { parseDatePattern } from '../values/date-pattern.ts';
import { GROUP_MARKS } from '../values/number-spelling.ts';

/** In bytes; a schema of 2,000 columns takes a tenth. */
export const MAX_COMPANION_BYTES = 1024 * 1024;

/** The schema itself needs three levels. */
const MAX_COMPANION_DEPTH = 32;

export interface CompanionSchema {
  /** By name; null: all types are inferred. */
  readonly columns: ReadonlyMap<string, { readonly type: string; readonly format?: string }> | null;
  /** Served verbatim; null together with `columns`. */
  readonly verbatim: string | null;
  /** Why the file cannot be used. */
  readonly problem: string | null;
  /** A generated file (`generated_by`) counts as absent. */
  readonly ignored: boolean;
}

/**
 * Parses `{"columns": {"<name>": {"type": "<type name>"}}}`. One wrong entry makes the whole file unusable, because a
 * half-applied schema would hide the mistake.
 */
export function parseCompanionSchema(text: string): CompanionSchema {
  const parsed = parseObject(text);
  if (typeof parsed === 'string') return unusable(parsed);
  if (parsed.has('generated_by')) {
    return { columns: null, verbatim: null, problem: null, ignored: true };
  }
  const declared = parsed.get('columns');
  if (!isObject(declared)) return unusable('"columns" must be an object');
  const columns = new Map<string, { type: string; format?: string }>();
  for (const [name, entry] of Object.entries(declared)) {
    const members = new Map(Object.entries(isObject(entry) ? entry : {}));
    const [type, format] = [members.get('type'), members.get('format')];
    if (typeof type !== 'string')
      return unusable(`column ${JSON.stringify(name)} has no type name`);
    columns.set(name, { type, ...(typeof format === 'string' && { format }) });
  }
  // Not the parsed value, which has lost digits of large numbers.
  return { columns, verbatim: withoutMark(text), problem: null, ignored: false };
}

function unusable(reason: string): CompanionSchema {
  return { columns: null, verbatim: null, problem: `Companion schema: ${reason}`, ignored: false };
}

interface CompanionOptions {
  readonly options: ReadOptions;
  /** Names each member that was left out. */
  readonly problem: string | null;
}

type OptionName =
  | 'header_row'
  | 'delimiter'
  | 'encoding'
  | 'range'
  | 'decimal'
  | 'thousands'
  | 'date_order'
  | 'date_format'
  | 'units'
  | 'total_row'
  | 'path'
  | 'orient'
  | 'formulas';

const OPTIONS_OF_KIND: Readonly<Record<string, readonly OptionName[]>> = {
  csv: [
    'header_row',
    'delimiter',
    'encoding',
    'decimal',
    'thousands',
    'date_order',
    'date_format',
    'units',
    'total_row',
  ],
  excel: ['header_row', 'range', 'date_order', 'date_format', 'formulas'],
  json: ['path', 'orient', 'date_order', 'date_format'],
};

export function optionNames(kind: string): readonly string[] {
  return OPTIONS_OF_KIND[kind] ?? [];
}

/**
 * For `csv` or `excel`; others have none. Unknown members are ignored; wrong ones are left out and named in
 * `problem`.
 */
export function parseOptions(text: string, { kind }: { kind: string }): CompanionOptions {
  const parsed = parseObject(text);
  if (typeof parsed === 'string') return { options: {}, problem: `Companion options: ${parsed}` };
  const options: { -readonly [K in keyof ReadOptions]: ReadOptions[K] } = {};
  const wrong: string[] = [];
  for (const name of OPTIONS_OF_KIND[kind] ?? []) {
    const value = parsed.get(name);
    if (value === undefined) continue;
    if (name === 'header_row') options.headerRow = headerRowOf(value);
    else if (name === 'range') options.range = rangeOf(value);
    else if (name === 'delimiter') options.delimiter = DELIMITERS.find((one) => one === value);
    else if (name === 'encoding') options.encoding = ENCODINGS.find((one) => one === value);
    else if (name === 'decimal') options.decimal = DECIMALS.find((one) => one === value);
    else if (name === 'thousands') options.thousands = thousandsOf(value, options.decimal);
    else if (name === 'date_order') options.dateOrder = DATE_ORDERS.find((one) => one === value);
    else if (name === 'date_format') options.dateFormat = dateFormatOf(value);
    else if (name === 'total_row') options.totalRow = TOTAL_ROWS.find((one) => one === value);
    else if (name === 'formulas')
      options.calculatesFormulas = value === 'calculate' ? true : undefined;
    else if (name === 'orient') options.orient = value === 'index' ? value : undefined;
    else if (name === 'path') options.path = pathOf(value);
    else options.hasUnits = value === 'auto' ? true : undefined;
    const isTaken = options[MEMBER[name]] !== undefined;
    if (isTaken) continue;
    delete options[MEMBER[name]];
    wrong.push(`"${name}" must be ${EXPECTED[name]}`);
  }
  return { options, problem: wrong.length > 0 ? `Companion options: ${wrong.join('; ')}` : null };
}

const DECIMALS = ['.', ','] as const;
const TOTAL_ROWS = ['last', 'none'] as const;
const DATE_ORDERS = ['dmy', 'mdy'] as const;
/** In order of preference. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
const MEMBER = {
  header_row: 'headerRow',
  delimiter: 'delimiter',
  encoding: 'encoding',
  range: 'range',
  decimal: 'decimal',
  thousands: 'thousands',
  date_order: 'dateOrder',
  date_format: 'dateFormat',
  units: 'hasUnits',
  total_row: 'totalRow',
  path: 'path',
  orient: 'orient',
  formulas: 'calculatesFormulas',
} as const;
const EXPECTED: Readonly<Record<OptionName, string>> = {
  header_row: 'an integer from 1 on',
  delimiter: 'a comma, semicolon, tab or vertical bar',
  encoding: `one of ${ENCODINGS.join(', ')}`,
  decimal: 'a point or a comma',
  thousands: 'empty, or a comma, point, apostrophe or space, and another mark than "decimal"',
  date_order: 'dmy or mdy',
  units: 'auto',
  total_row: 'last or none',
  orient: 'index',
  formulas: 'calculate',
  path: 'names of members with points between, such as data.items',
  date_format: 'a whole date such as %d.%m.%y or %Y%m%d %H:%M',
  range: 'cells such as C3:F20, or C3 where the table begins',
};

const GUESSED = {
  encoding: 'encoding',
  header_row: 'line of the header',
  total_row: 'row of totals',
} as const;

/** For an edit after which a file would be read otherwise. */
export function lostGuess(option: keyof typeof GUESSED): AppError {
  return unreadable(
    `the ${GUESSED[option]} could no longer be recognised afterwards; declare it first ("${option}" in the file's options)`,
  );
}

function headerRowOf(value: unknown): number | undefined {
  const row = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
  return typeof row === 'number' && Number.isSafeInteger(row) && row >= 1 ? row : undefined;
}

function thousandsOf(value: unknown, decimal: string | undefined): string | undefined {
  const isMark = typeof value === 'string' && GROUP_MARKS.has(value) && value !== decimal;
  return isMark ? value : undefined;
}

function dateFormatOf(value: unknown): string | undefined {
  return typeof value === 'string' && parseDatePattern(value) !== null ? value : undefined;
}

function pathOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^.]+(?:\.[^.]+){0,31}$/.test(value) ? value : undefined;
}

/** Of at least two rows. */
function rangeOf(value: unknown): string | undefined {
  const match = typeof value === 'string' ? RANGE.exec(value.trim().toUpperCase()) : null;
  if (match === null) return undefined;
  const [range, first, last] = match;
  return last === undefined || Number(first) < Number(last) ? range : undefined;
}

const RANGE = /^[A-Z]{1,3}([1-9][0-9]{0,6})(?::[A-Z]{1,3}([1-9][0-9]{0,6}))?$/;

function parseObject(text: string): Map<string, unknown> | string {
  if (Buffer.byteLength(text) > MAX_COMPANION_BYTES)
    return `larger than ${MAX_COMPANION_BYTES} bytes`;
  if (depthOf(text) > MAX_COMPANION_DEPTH)
    return `nested deeper than ${MAX_COMPANION_DEPTH} levels`;
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(text));
  } catch {
    // The parser's message differs between versions and may quote the file.
    return 'not valid JSON';
  }
  return isObject(value) ? new Map(Object.entries(value)) : 'not a JSON object';
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/** Nesting of brackets outside strings; meaningless for text that is not JSON. */
function depthOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (isText) {
      if (character === '\\') at++;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return deepest;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
