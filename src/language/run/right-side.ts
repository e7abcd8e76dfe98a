import type { Query, Word } from '../syntax/ast.ts';
import type { LazyTable, ParseContext, PrintContext, StageContext } from '../command.ts';
import { Problem } from '../syntax/problem.ts';
import { parseSourceName, printSourceName, sourceNamed } from '../syntax/source-name.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';

export type RightSide =
  | { readonly kind: 'source'; readonly name: Word }
  | { readonly kind: 'query'; readonly query: Query };

export function parseRightSide(reader: TerseReader, context: ParseContext): RightSide {
  if (reader.takeKeyword('FROM')) return { kind: 'source', name: parseSourceName(reader) };
  if (reader.peek() !== '[') throw reader.expected('FROM or a query in [ ]');
  const open = reader.at;
  const close = closingBracket(reader.text, open, reader.to);
  reader.at = close + 1;
  return { kind: 'query', query: context.parseNested(open + 1, close) };
}

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

export function printRightSide(right: RightSide, { printNested }: PrintContext): string {
  return right.kind === 'source'
    ? `FROM ${printSourceName(right.name)}`
    : `[ ${printNested(right.query)} ]`;
}

/** Names and rights are checked now, rows are read on demand. */
export function rightSide(right: RightSide, context: StageContext): LazyTable {
  if (right.kind === 'query') return context.prepare(right.query);
  return context.prepareSource(
    context.source(sourceNamed(right.name, context.parameters), right.name.place),
  );
}
