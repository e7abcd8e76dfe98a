/**
 * Type names a companion schema may declare, and what they mean for cells (DS-61, DS-78).
 *
 * Names are compared without regard to case, because the files they describe come from tools that write `Int64` or
 * `DOUBLE`. A name that is none of the known ones declares raw text.
 */
import type { ColumnType } from './types.ts';

/** `other` is a name without meaning here: cells stay the text they are. */
export type DeclaredClass = ColumnType | 'other';

const NAMES: Readonly<Record<ColumnType, RegExp>> = {
  // The star of `int*` stands for widths and the like, not for letters: `interval` is no integer.
  integer: /^u?int(?:eger)?(?![a-z])/,
  number: /^(?:number$|double(?![a-z])|(?:float|decimal)(?![a-z]))/,
  boolean: /^bool(?:ean)?$/,
  string: /^(?:string|str|object|category)$/,
};

/** What a declared type name means. */
export function declaredClass(name: string): DeclaredClass {
  const folded = name.trim().toLowerCase();
  for (const type of Object.keys(NAMES) as ColumnType[]) {
    if (NAMES[type].test(folded)) return type;
  }
  return 'other';
}

/** The type a declared column is stored and filtered as. */
export function declaredColumnType(name: string): ColumnType {
  const declared = declaredClass(name);
  return declared === 'other' ? 'string' : declared;
}
