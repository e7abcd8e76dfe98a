/** Completion in SQL: tables the reader may read, and the columns of those that the statement names. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { askJson } from '../shared/ask.ts';

export const SQL_WORDS: readonly string[] =
  'SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT RIGHT FULL INNER CROSS NATURAL ON USING AS DISTINCT UNION ALL INTERSECT EXCEPT WITH RECURSIVE VALUES AND OR NOT IN LIKE GLOB REGEXP BETWEEN IS NULL EXISTS CASE WHEN THEN ELSE END CAST COLLATE NOCASE OVER PARTITION WINDOW ROWS RANGE FILTER ASC DESC NULLS FIRST LAST'.split(
    ' ',
  );
const FUNCTIONS =
  'avg coalesce count cume_dist date datetime dense_rank first_value group_concat ifnull iif instr json_each json_extract lag last_value lead length lower max median min ntile nullif percentile printf rank replace round row_number strftime substr sum time total trim typeof unixepoch upper'.split(
    ' ',
  );

export class SqlCompletion {
  #tables: Promise<readonly string[]> | null = null;
  readonly #columns = new Map<string, Promise<readonly string[]>>();

  async complete(context: CompletionContext): Promise<CompletionResult | null> {
    const word = context.matchBefore(/"[^"\n]*|[\w$\u0080-\uffff]+/);
    const before = context.state.sliceDoc(0, word?.from ?? context.pos);
    const isOfTable = /[\w"\]]\.$/.test(before);
    if (word === null && !context.explicit && !isOfTable) return null;
    const from = word?.from ?? context.pos;
    const tables = await this.#readable();
    if (/\b(?:from|join)\s+$/i.test(before) || /\bfrom\s[^()]*,\s*$/i.test(before))
      return { from, options: tables.map((name) => named(name, 'class')) };
    const text = context.state.doc.toString();
    const used = tables.filter((name) => text.includes(name));
    const columns = (await Promise.all(used.map((name) => this.#columnsOf(name)))).flat();
    const options = [...new Set(columns)].map((name) => named(name, 'property'));
    if (isOfTable) return { from, options };
    const words = SQL_WORDS.map((label): Completion => ({ label, type: 'keyword' }));
    const functions = FUNCTIONS.map((label): Completion => ({ label, type: 'function' }));
    return { from, options: [...options, ...functions, ...words] };
  }

  #readable(): Promise<readonly string[]> {
    this.#tables ??= askJson<{ readonly sources: readonly string[] }>('/search2/api/commands/')
      .then(({ sources }) => sources.filter((name) => name !== 'events' && name !== 'audit'))
      .catch(() => {
        this.#tables = null;
        return [];
      });
    return this.#tables;
  }

  #columnsOf(table: string): Promise<readonly string[]> {
    const path = table.split('/').map(encodeURIComponent).join('/');
    const known =
      this.#columns.get(table) ??
      askJson<{ readonly columns: object }>(`/schema/${path}/`)
        .then(({ columns }) => Object.keys(columns))
        .catch(() => []);
    this.#columns.set(table, known);
    return known;
  }
}

function named(label: string, type: string): Completion {
  const isPlain = /^[A-Za-z_]\w*$/.test(label) && !SQL_WORDS.includes(label.toUpperCase());
  const quoted = `"${label.replaceAll('"', '""')}"`;
  return {
    label,
    type,
    boost: 1,
    ...(!isPlain && { apply: quoted, displayLabel: label, label: quoted }),
  };
}
