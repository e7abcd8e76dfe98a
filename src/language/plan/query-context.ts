import type { NestedQuery, SourceName, StageContext } from '../command.ts';
import { parseQuery } from '../syntax/parse.ts';
import { builtInParameters, fillText, type Parameters } from '../syntax/placeholder.ts';
import { Problem, unknownName, type Place } from '../syntax/problem.ts';
import { prepareQuery, prepareSource, requireNoCycle, type RunWatch } from '../run/run.ts';
import type { Source } from '../sources/source.ts';
import type { Value } from '../expressions/value.ts';
import { useZone } from '../expressions/zone.ts';

export type FoundSavedSearch =
  | { readonly kind: 'found'; readonly key: string; readonly query: string }
  | { readonly kind: 'ambiguous-own' }
  | { readonly kind: 'ambiguous-shared' }
  | { readonly kind: 'missing' };

export interface QueryEnvironment {
  readonly now: string;
  /** Default UTC. */
  readonly timezone?: string;
  readonly parameters: Readonly<Record<string, Value>>;
  readonly implicitTerms: boolean;
  readonly joinMaxRows: number;
  readonly source: (name: SourceName) => Source | null;
  /** For suggestions. */
  readonly datasetNames: readonly string[];
  /** Null for all. Called only when a query names an index. */
  readonly readableIndexes: () => readonly string[] | null;
  readonly savedSearch: (name: string) => FoundSavedSearch;
  readonly extract: StageContext['extract'];
  readonly watch: RunWatch;
}

export function createContext(environment: QueryEnvironment): {
  context: StageContext;
  notices: string[];
} {
  useZone(environment.timezone);
  const notices: string[] = [];
  const parameters = new Map([
    ...builtInParameters(environment.now),
    ...Object.entries(environment.parameters),
  ]);
  const note = (text: string): void => {
    if (!notices.includes(text)) notices.push(text);
  };
  return { context: new Run(environment, note).context(parameters, []), notices };
}

interface Caller {
  readonly name: string;
  readonly key: string;
}

class Run {
  readonly #environment: QueryEnvironment;
  readonly #note: (text: string) => void;
  /** One per name, so that all stages note the columns they use in the same one. */
  readonly #sources = new Map<string, Source>();

  constructor(environment: QueryEnvironment, note: (text: string) => void) {
    this.#environment = environment;
    this.#note = note;
  }

  context(parameters: Parameters, stack: readonly Caller[]): StageContext {
    const { now, joinMaxRows, readableIndexes, extract, watch } = this.#environment;
    const context: StageContext = {
      parameters,
      now,
      notice: this.#note,
      source: (name, place) => this.#source(name, place),
      savedSearch: (word, given) => {
        const name = fillText(word.text, parameters, word.place);
        return this.#savedSearch(name, word.place, new Map([...parameters, ...given]), stack);
      },
      extract,
      // A query in brackets has its own time range.
      prepare: (query) =>
        prepareQuery(query, { ...context, range: { earliest: null, latest: null } }, watch),
      prepareSource: (source, then) => prepareSource(source, then, watch),
      joinMaxRows,
      readableIndexes,
      range: { earliest: null, latest: null },
    };
    return context;
  }

  #source(name: SourceName, place: Place): Source {
    const key = name.kind === 'dataset' ? `dataset ${name.name}` : name.kind;
    const known = this.#sources.get(key);
    if (known) return known;
    const source = this.#environment.source(name);
    if (source) {
      this.#sources.set(key, source);
      return source;
    }
    if (name.kind === 'audit')
      throw new Problem('no_permission', 'No permission to read audit', { place });
    const wanted = name.kind === 'dataset' ? name.name : 'events';
    const text = `Unknown dataset '${wanted}' or no permission to read it`;
    throw new Problem('unknown_source', text, {
      place,
      ...unknownDataset(wanted, this.#environment.datasetNames),
    });
  }

  #savedSearch(
    name: string,
    place: Place,
    parameters: Parameters,
    stack: readonly Caller[],
  ): NestedQuery {
    const found = this.#environment.savedSearch(name);
    if (found.kind !== 'found') {
      const [code, text] = savedSearchProblem[found.kind];
      throw new Problem(code, text(name), { place });
    }
    requireNoCycle(name, found.key, stack);
    const { implicitTerms } = this.#environment;
    const query = parseQuery(found.query, { implicitTerms });
    const context = this.context(parameters, [...stack, { name, key: found.key }]);
    return { kind: 'nested', name, place, query, context };
  }
}

const savedSearchProblem = {
  missing: [
    'saved_search_missing',
    (name: string) => `SavedSearch '${name}' does not exist or is not shared with you`,
  ],
  'ambiguous-own': [
    'saved_search_ambiguous',
    (name: string) => `Multiple SavedSearch objects named '${name}' belong to you; rename one`,
  ],
  'ambiguous-shared': [
    'saved_search_ambiguous',
    (name: string) => `Multiple shared or public SavedSearch objects named '${name}'`,
  ],
} as const;

/** Also suggests what a folder of this name holds, or the first sheet of a workbook. */
export function unknownDataset(
  name: string,
  names: Iterable<string>,
): ReturnType<typeof unknownName> {
  const { suggestion, allowed } = unknownName(name, names);
  const wanted = name.toLowerCase();
  const isMeant = (other: string): boolean =>
    other.toLowerCase().endsWith(`/${wanted}`) || other.toLowerCase().startsWith(`${wanted}/`);
  return { suggestion: suggestion ?? allowed.find(isMeant) ?? null, allowed };
}
