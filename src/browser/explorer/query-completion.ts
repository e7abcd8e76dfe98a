/**
 * Completion in queries. What the server knows is fetched when first needed and kept as long as the
 * page is open.
 */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { askJson, posting } from '../shared/ask.ts';
import { localNumber } from '../shared/times.ts';
import { askFields, type Field } from './fields.ts';
import { fieldTerm, quoted, valueText } from './terms.ts';

/** As `/search2/api/commands/` describes it. */
interface Language {
  readonly commands: readonly {
    readonly name: string;
    readonly summary: string;
    readonly syntax: string;
    readonly flags: readonly { readonly name: string; readonly help?: string }[];
  }[];
  readonly functions: readonly Named[];
  readonly aggregates: readonly Named[];
  readonly sources: readonly string[];
}

interface Named {
  readonly name: string;
  readonly summary?: string;
}

const TOP_VALUES = 50;
/** Enough to know the usual fields and values without making completion wait. */
const SAMPLE = 5_000;
/** `host=`, `host="we`, `host!=web`: name and the start of a value. */
const BEGUN_VALUE = /([A-Za-z_@][\w@.:/$-]*)\s*(?:!=|==?)\s*("(?:[^"\\|]*)|[\w@.:+/-]*)$/;

export class QueryCompletion {
  readonly #kept = new Map<string, Promise<unknown>>();

  /** `span` is the time range of the page; null for users who may not read events. */
  constructor(private readonly span: URLSearchParams | null) {}

  language(): Promise<Language | null> {
    return this.#once('language', null, () => askJson<Language>('/search2/api/commands/'));
  }

  async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const before = context.state.sliceDoc(0, context.pos);
    const value = BEGUN_VALUE.exec(before);
    if (value !== null) return this.#valuesAt(context, value[1]!, value[2]!);
    const word = context.matchBefore(/[\w./-]+/);
    if (word === null && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    const options = await this.#wordsAfter(before.slice(0, from).trimEnd(), word?.text ?? '');
    return { from, options, validFor: /^[\w./-]*$/ };
  }

  async #wordsAfter(before: string, begun: string): Promise<Completion[]> {
    const language = await this.language();
    if (/\b(?:from|lookup|join)$/.test(before)) {
      return (language?.sources ?? []).map((label) => ({ label, type: 'class' }));
    }
    const stage = stageOf(before);
    const command = /^\s*(\w+)/.exec(stage)?.[1];
    const flags = language?.commands.find(({ name }) => name === command)?.flags ?? [];
    if (begun.startsWith('-')) return flags.map(flagOption);
    const fields = await this.#fieldsAfter(before.slice(0, before.length - stage.length));
    if (stage.trim() === '') return [...(language?.commands ?? []).map(commandOption), ...fields];
    const functions = [...(language?.aggregates ?? []), ...(language?.functions ?? [])];
    return [...fields, ...functions.map(functionOption)];
  }

  async #fieldsAfter(stages: string): Promise<Completion[]> {
    const query = stages.replace(/[|\s]+$/, '');
    const known = query === '' ? null : await this.#columnsOf(query);
    const names = known ?? (await this.#fields('')).map(({ name }) => name);
    return names.map((label) => ({ label, type: 'property', detail: 'field', boost: 1 }));
  }

  #columnsOf(query: string): Promise<readonly string[] | null> {
    return this.#once(`columns ${query}`, null, async () => {
      const checked = askJson<{ readonly columns: readonly string[] | null }>(
        '/search2/api/validate/',
        posting({ query }),
      );
      return (await checked).columns;
    });
  }

  async #valuesAt(
    context: CompletionContext,
    name: string,
    begun: string,
  ): Promise<CompletionResult | null> {
    const text = begun.replace(/^"/, '');
    const find = (fields: readonly Field[]): Field | undefined =>
      fields.find((field) => field.name === name);
    let field = find(await this.#fields(''));
    const isCut = field === undefined || field.distinct > field.top.length;
    // A star is a wildcard outside quotes only.
    if (isCut && /^[\w@.:+-]+$/.test(text)) {
      field = find(await this.#fields(`${fieldTerm(name, text)}*`)) ?? field;
    }
    if (field === undefined || context.aborted) return null;
    const options = field.top.map(({ value, count }): Completion => {
      const label = valueText(value);
      return { label, apply: quoted(label), type: 'text', detail: localNumber(count) };
    });
    const isBegun = ({ label }: Completion): boolean =>
      label.toLowerCase().startsWith(text.toLowerCase());
    // The opening quote is replaced too, but is not part of the text to match.
    return { from: context.pos - begun.length, options: options.filter(isBegun), filter: false };
  }

  async #fields(terms: string): Promise<readonly Field[]> {
    const { span } = this;
    if (span === null) return [];
    return this.#once(`fields ${terms}`, [], async () => {
      const query = new URLSearchParams(span);
      query.set('top', String(TOP_VALUES));
      query.set('sample', String(SAMPLE));
      if (terms !== '') query.set('query', terms);
      return (await askFields(query)).fields;
    });
  }

  /**
   * Fetched once. After a failure returns `without` and asks again next time: leaving the page
   * aborts requests too.
   */
  #once<T>(key: string, without: T, ask: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key) as Promise<T> | undefined;
    if (kept !== undefined) return kept;
    const asked = ask().catch(() => {
      this.#kept.delete(key);
      return without;
    });
    this.#kept.set(key, asked);
    return asked;
  }
}

function stageOf(before: string): string {
  const outside = before.replace(/"(?:[^"\\]|\\.)*"/g, (text) => '_'.repeat(text.length));
  return before.slice(Math.max(outside.lastIndexOf('|'), outside.lastIndexOf('[')) + 1);
}

function commandOption({ name, summary, syntax }: Language['commands'][number]): Completion {
  return { label: name, detail: summary, info: syntax, type: 'keyword' };
}

function flagOption({ name, help }: { readonly name: string; readonly help?: string }): Completion {
  const label = name.startsWith('-') ? name : `--${name}`;
  return { label, type: 'keyword', ...(help !== undefined && { detail: help }) };
}

function functionOption({ name, summary }: Named): Completion {
  return { label: name, type: 'function', ...(summary !== undefined && { detail: summary }) };
}
