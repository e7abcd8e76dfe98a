/**
 * Column names from the cells of a header row (DS-50, DS-63), the same for every kind of file.
 *
 * A name that stands in the header is never given to another column as its replacement, so a column is always
 * found under its own name where the file makes that possible.
 */

/** The key of the row id in every row; no column may have it. */
export const ROW_ID = '_row_id';

/**
 * One unique name per cell: trimmed, `column_N` (1-based) where empty, with `_2`, `_3`, … (first free) for a
 * duplicate and for a column called `_row_id`.
 */
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

/** The name of the column at a 0-based position that has none in the header. */
export function extraName(position: number): string {
  return `column_${position + 1}`;
}

/** The name with the first suffix that makes it none of `taken`. */
export function withSuffix(name: string, taken: ReadonlySet<string>): string {
  for (let suffix = 2; ; suffix++) {
    const candidate = `${name}_${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
