/** A name in the header is never given to another column, so a column is found under its own name where possible. */

/** The key of the row id in every row; no column may have it. */
const ROW_ID = '_row_id';

/** Trimmed; `column_N` (1-based) where empty; first free of `_2`, `_3`, … for duplicates and for `_row_id`. */
export function cleanNames(cells: readonly string[]): string[] {
  const wanted = cells.map((cell, index) => cell.trim() || extraName(index));
  const reserved = new Set([ROW_ID, ...wanted]);
  const given = new Set([ROW_ID]);
  return wanted.map((name) => {
    const unique = given.has(name) ? withSuffix(name, reserved) : name;
    given.add(unique);
    reserved.add(unique);
    return unique;
  });
}

/** For a column without a header; `position` counts from 0. */
export function extraName(position: number): string {
  return `column_${position + 1}`;
}

/** The first suffix that makes the name none of `taken`. */
export function withSuffix(name: string, taken: ReadonlySet<string>): string {
  for (let suffix = 2; ; suffix++) {
    const candidate = `${name}_${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
