/**
 * Datasets and saved searches a query names: looked up with the caller's rights before it is run, by a process that does
 * not read the query itself.
 *
 * The worker runs with what was looked up so far; at a name nobody looked up it stops and tells all that it knows of, also
 * inside the saved searches it was given. So a query is read in a worker only, and one over events alone is read once.
 */
import { mentionsOf } from './mentions.ts';
import { parseQuery } from './parse.ts';
import { builtInParameters } from './placeholder.ts';
import { Problem } from './problem.ts';
import type { SearchScope } from './open-sources.ts';
import type { Value } from './value.ts';

/** Names a query uses. */
export interface Names {
  readonly datasets: readonly string[];
  readonly savedSearches: readonly string[];
}

interface Asked {
  readonly query: string;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly now: string;
  readonly implicitTerms: boolean;
  readonly scope: Pick<SearchScope, 'datasets' | 'savedSearches'>;
}

/** Datasets, and saved searches, of one query with those inside of it. */
const MAX_NAMES = 100;

/** A name that was not looked up yet. */
export class UnknownYet extends Error {
  readonly kind: keyof Names;
  readonly of: string;

  constructor(kind: keyof Names, name: string) {
    super('A name is to be looked up first');
    this.kind = kind;
    this.of = name;
  }
}

/** What was found under the name. Throws UnknownYet. */
export function requireLookedUp<Found>(
  found: Readonly<Record<string, Found>>,
  kind: keyof Names,
  name: string,
): Found {
  if (Object.hasOwn(found, name)) return found[name]!;
  throw new UnknownYet(kind, name);
}

/** The names to be looked up next: the one that stopped the query, and the others it will come to. Throws `too_large`. */
export function wantedNames(unknown: UnknownYet, order: Asked): Names {
  const { scope, implicitTerms } = order;
  const known = new Map([...builtInParameters(order.now), ...Object.entries(order.parameters)]);
  const wanted = { datasets: new Set<string>(), savedSearches: new Set<string>() };
  wanted[unknown.kind].add(unknown.of);
  const inside = Object.values(scope.savedSearches).flatMap((one) =>
    one.kind === 'found' ? [one.query] : [],
  );
  for (const text of [order.query, ...inside]) {
    const mentions = mentionsOf(parseQuery(text, { implicitTerms }), known);
    for (const kind of ['datasets', 'savedSearches'] as const) {
      for (const name of mentions[kind]) {
        if (!Object.hasOwn(scope[kind], name)) wanted[kind].add(name);
      }
    }
  }
  requireFew(wanted.datasets.size + Object.keys(scope.datasets).length, 'datasets');
  requireFew(wanted.savedSearches.size + Object.keys(scope.savedSearches).length, 'saved searches');
  return { datasets: [...wanted.datasets], savedSearches: [...wanted.savedSearches] };
}

function requireFew(count: number, what: string): void {
  if (count > MAX_NAMES) throw new Problem('too_large', `A query may use ${MAX_NAMES} ${what}`);
}
