/**
 * The other rows of `join` and `append`: a dataset, or a query of its own in brackets (SL-120).
 */
import type { Query, Word } from './ast.ts';
import type { LazyTable, ParseContext, StageContext } from './command.ts';
import { Problem } from './problem.ts';
import { parseSourceName, printSourceName, sourceNamed } from './source-name.ts';
import { printQuery } from './print.ts';
import type { TerseReader } from './terse-reader.ts';

/** A dataset after FROM, or a query. */
export type RightSide =
  | { readonly kind: 'source'; readonly name: Word }
  | { readonly kind: 'query'; readonly query: Query };

/** Throws `syntax`. */
export function parseRightSide(reader: TerseReader, context: ParseContext): RightSide {
  if (reader.takeKeyword('FROM')) return { kind: 'source', name: parseSourceName(reader) };
  if (reader.peek() !== '[') throw reader.expected('FROM or a query in [ ]');
  const open = reader.at;
  const close = closingBracket(reader.text, open, reader.to);
  reader.at = close + 1;
  return { kind: 'query', query: context.parseNested(open + 1, close) };
}

/** Position of the bracket that closes the one at `open`; quotes of both kinds are honoured. Throws `syntax`. */
function closingBracket(text: string, open: number, to: number): number {
  let depth = 0;
  let quote = '';
  for (let at = open; at < to; at++) {
    const character = text[at]!;
    if (quote !== '') {
      if (character === '\\' && quote === '"') at++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[') depth++;
    else if (character === ']' && --depth === 0) return at;
  }
  throw new Problem('syntax', "Missing ']'", { place: { at: open, length: 1 } });
}

/** The right side as text that parses to it. */
export function printRightSide(right: RightSide): string {
  return right.kind === 'source'
    ? `FROM ${printSourceName(right.name)}`
    : `[ ${printQuery(right.query)} ]`;
}

/** The rows, to be read when they are needed; names and rights are checked now. */
export function rightSide(right: RightSide, context: StageContext): LazyTable {
  if (right.kind === 'query') return context.prepare(right.query);
  return context.prepareSource(
    context.source(sourceNamed(right.name, context.parameters), right.name.place),
  );
}
