/**
 * Datasets and saved searches a query names, looked up with the caller's rights by the server, which does not parse
 * queries.
 *
 * The worker runs with what was looked up so far; at an unknown name it stops and returns every name it found, also
 * inside saved searches. So a query over events alone is parsed once.
 */
import type { Grants } from '../../accounts/rights/permissions.ts';
import type { Value } from '../expressions/value.ts';
import type { FoundSavedSearch } from '../plan/query-context.ts';
import type { RightSide } from '../run/right-side.ts';
import type { Stage, Word } from '../syntax/ast.ts';
import { parseQuery } from '../syntax/parse.ts';
import { builtInParameters, fillText } from '../syntax/placeholder.ts';
import { Problem } from '../syntax/problem.ts';
import type { DatasetOrder } from './dataset.ts';

export interface SearchScope {
  /** Null while there is no event store. */
  readonly eventStore: string | null;
  readonly grants: Grants;
  /** By the name as written; null for what does not exist or may not be read. */
  readonly datasets: Readonly<Record<string, DatasetOrder | null>>;
  /** All readable ones, for suggestions. */
  readonly datasetNames: readonly string[];
  /** Set only for callers who may read the audit. */
  readonly auditDatabase: string | null;
  readonly savedSearches: Readonly<Record<string, FoundSavedSearch>>;
}

export interface Names {
  readonly datasets: readonly string[];
  readonly savedSearches: readonly string[];
}

interface Asked {
  readonly queries: readonly string[];
  readonly parameters: Readonly<Record<string, Value>>;
  readonly now: string;
  readonly implicitTerms: boolean;
  readonly scope: SearchScope;
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
export function wantedNames(
  unknown: UnknownYet,
  { scope, implicitTerms, now, parameters, queries }: Asked,
): Names {
  const known = new Map([...builtInParameters(now), ...Object.entries(parameters)]);
  // A placeholder without a value is reported when the query is checked.
  const nameOf = ({ text, place }: Word): string | null => {
    try {
      return fillText(text, known, place);
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  };
  const wanted = { datasets: new Set<string>(), savedSearches: new Set<string>() };
  wanted[unknown.kind].add(unknown.of);
  const inside = Object.values(scope.savedSearches).flatMap((one) =>
    one.kind === 'found' ? [one.query] : [],
  );
  for (const text of [...queries, ...inside]) {
    const { stages } = parseQuery(text, { implicitTerms });
    for (const [kind, name] of mentionsIn(stages, nameOf)) {
      if (name !== null && !Object.hasOwn(scope[kind], name)) wanted[kind].add(name);
    }
  }
  requireFew(wanted.datasets.size + Object.keys(scope.datasets).length, 'datasets');
  requireFew(wanted.savedSearches.size + Object.keys(scope.savedSearches).length, 'saved searches');
  return { datasets: [...wanted.datasets], savedSearches: [...wanted.savedSearches] };
}

function requireFew(count: number, what: string): void {
  if (count > MAX_NAMES) throw new Problem('too_large', `A query may use ${MAX_NAMES} ${what}`);
}

type Mention = readonly [kind: keyof Names, name: string | null];

function* mentionsIn(
  stages: readonly Stage[],
  nameOf: (word: Word) => string | null,
): Generator<Mention> {
  const source = (word: Word): Mention => {
    const name = nameOf(word);
    return ['datasets', name === 'events' || name === 'audit' ? null : name];
  };
  for (const { command, arguments: args } of stages) {
    if (args.form === 'flag') {
      const model = args.flags['model']?.at(-1);
      const name = model ? nameOf(model) : null;
      if (name?.startsWith('dataset.')) yield ['datasets', name.slice('dataset.'.length)];
      const [search] = args.words;
      if (command === 'run_saved_search' && search) yield ['savedSearches', nameOf(search)];
      continue;
    }
    const { name, right = args.args as RightSide } = args.args as { name: Word; right?: RightSide };
    if (command === 'from') yield source(args.args as Word);
    if (command === 'lookup') yield source(name);
    if (command === 'savedsearch') yield ['savedSearches', nameOf(name)];
    if (command !== 'join' && command !== 'append') continue;
    if (right.kind === 'source') yield source(right.name);
    else yield* mentionsIn(right.query.stages, nameOf);
  }
}
