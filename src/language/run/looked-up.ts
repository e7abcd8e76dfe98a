/**
 * Datasets and saved searches a query names, looked up with the caller's rights by the server, which does not parse
 * queries.
 *
 * The worker runs with what was looked up so far; at an unknown name it stops and returns every name it found, also
 * inside saved searches. So a query over events alone is parsed once.
 */
import { mentionsOf } from '../syntax/mentions.ts';
import { parseQuery } from '../syntax/parse.ts';
import { builtInParameters } from '../syntax/placeholder.ts';
import { Problem } from '../syntax/problem.ts';
import type { SearchScope } from '../sources/open-sources.ts';
import type { Value } from '../expressions/value.ts';

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

/** Of one query, including the saved searches in it. */
const MAX_NAMES = 100;

export class UnknownYet extends Error {
  readonly kind: keyof Names;
  readonly of: string;

  constructor(kind: keyof Names, name: string) {
    super('A name is to be looked up first');
    this.kind = kind;
    this.of = name;
  }
}

export function requireLookedUp<Found>(
  found: Readonly<Record<string, Found>>,
  kind: keyof Names,
  name: string,
): Found {
  if (Object.hasOwn(found, name)) return found[name]!;
  throw new UnknownYet(kind, name);
}

/** Throws `too_large`. */
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
