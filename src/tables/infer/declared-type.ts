/**
 * Type names in companion schemas. Case is ignored, because the files come from tools that write `Int64` or `DOUBLE`.
 * An unknown name declares raw text.
 */
import type { ColumnType } from './file-type.ts';

/** `other`: cells stay text. */
type DeclaredClass = ColumnType | 'other';

const NAMES: Readonly<Record<ColumnType, RegExp>> = {
  // `int*` allows widths and the like, not letters: `interval` is no integer.
  integer: /^u?int(?:eger)?(?![a-z])/,
  number: /^(?:number$|double(?![a-z])|(?:float|decimal)(?![a-z]))/,
  boolean: /^bool(?:ean)?$/,
  string: /^(?:string|str|object|category)$/,
};

export function declaredClass(name: string): DeclaredClass {
  const folded = name.trim().toLowerCase();
  for (const type of Object.keys(NAMES) as ColumnType[]) {
    if (NAMES[type].test(folded)) return type;
  }
  return 'other';
}

export function declaredColumnType(name: string): ColumnType {
  const declared = declaredClass(name);
  return declared === 'other' ? 'string' : declared;
}

/** As spreadsheets write them in other languages than English. */
export const SPREADSHEET_BOOLEANS: readonly (readonly [string, string])[] = [
  ['WAHR', 'FALSCH'],
  ['VRAI', 'FAUX'],
  ['VERO', 'FALSO'],
  ['VERDADERO', 'FALSO'],
  ['VERDADEIRO', 'FALSO'],
  ['WAAR', 'ONWAAR'],
  ['SANT', 'FALSKT'],
  ['PRAWDA', 'FAŁSZ'],
  ['PRAVDA', 'NEPRAVDA'],
  ['IGAZ', 'HAMIS'],
];

/** By the text in lower case; one table for edits, filters, written files and pages. */
export const BOOLEAN_TEXT: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ...SPREADSHEET_BOOLEANS.flatMap(([yes, no]): [string, boolean][] => [
    [yes.toLowerCase(), true],
    [no.toLowerCase(), false],
  ]),
]);
