/** The columns a list returns. */
import { AppError } from '../../base/errors.ts';
import { indexNames, indexOfName, splitNames, unquoted } from './name-list.ts';

/**
 * In the order given, each once; null for all (no value, or only empty ones). Throws `invalid-query` for an unknown
 * name.
 */
export function parseColumns(
  values: readonly string[],
  columns: readonly { readonly name: string }[],
): number[] | null {
  const items = values.filter((value) => value !== '').flatMap(splitNames);
  if (items.length === 0) return null;
  const indexes = indexNames(columns);
  const found = items.map((item) => {
    const index = indexOfName(item, indexes);
    if (index !== undefined) return index;
    throw new AppError('invalid-query', `Invalid columns: unknown column '${unquoted(item)}'`);
  });
  return [...new Set(found)];
}
