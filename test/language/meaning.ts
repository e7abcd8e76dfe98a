/**
 * A parsed query without its places: two queries mean the same when these are equal (SL-8).
 */
import type { Query } from '../../src/language/syntax/ast.ts';

export function meaningOf(query: Query): unknown {
  return query.stages.map(({ command, arguments: args }) => ({ command, args: without(args) }));
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? null : value;
  if ('at' in value && 'length' in value) return null;
  const shown = Object.entries(value).filter(
    ([name]) => !['place', 'source', 'isNamed'].includes(name),
  );
  return Object.fromEntries(shown.map(([name, member]) => [name, without(member)]));
}
