/** Which indexes the searches of a query name, for who may see its rows later. */
import type { RightSide } from '../run/right-side.ts';
import type { Query, Stage, Terms, Word } from '../syntax/ast.ts';
import { parseQuery } from '../syntax/parse.ts';
import { hasPlaceholder } from '../syntax/placeholder.ts';

/** Null when one of them may read any index. */
export function namedIndexes(
  queries: readonly string[],
  implicitTerms: boolean,
): readonly string[] | null {
  const names = new Set<string>();
  for (const text of queries) {
    const found = ofQuery(parseQuery(text, { implicitTerms }));
    if (found === null) return null;
    found.forEach((name) => names.add(name));
  }
  return [...names];
}

const NONE: readonly string[] = [];

function ofQuery({ stages }: Pick<Query, 'stages'>): readonly string[] | null {
  const found = stages.map((stage, at) => ofStage(stage, at === 0));
  return found.includes(null) ? null : found.flatMap((names) => names ?? NONE);
}

function ofStage({ command, arguments: args }: Stage, isFirst: boolean): readonly string[] | null {
  // Flags can name a source in many ways.
  if (args.form === 'flag') return isFirst || command === 'run_saved_search' ? null : NONE;
  const { name, right = args.args as RightSide } = args.args as { name: Word; right?: RightSide };
  switch (command) {
    case 'from':
      return ofSource(args.args as Word);
    case 'lookup':
      return ofSource(name);
    case 'join':
    case 'append':
      return right.kind === 'source' ? ofSource(right.name) : ofQuery(right.query);
    case 'savedsearch':
      // Its query is among those that are looked at.
      return NONE;
    case 'search':
      return isFirst ? ofTerms(args.args as Terms) : NONE;
    default:
      return isFirst ? null : NONE;
  }
}

function ofSource({ text }: Word): readonly string[] | null {
  return text === 'events' || hasPlaceholder(text) ? null : NONE;
}

/** Only terms that all events must meet restrict. */
function ofTerms(terms: Terms): readonly string[] | null {
  if (terms.kind === 'all' || terms.kind === 'and') {
    for (const item of terms.items) {
      const names = ofTerms(item);
      if (names !== null) return names;
    }
    return null;
  }
  if (terms.kind !== 'compare' || terms.op !== '=' || terms.field.text !== 'index') return null;
  const isPlain = terms.values.every(
    ({ text, isQuoted }) => !hasPlaceholder(text) && (isQuoted || !text.includes('*')),
  );
  return isPlain ? terms.values.map(({ text }) => text) : null;
}
