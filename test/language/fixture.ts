/**
 * The fixture of SL-180 and SL-181 in memory: seven events, one dataset, saved searches, two callers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonOf, type Row, type Value, valueOfJson } from '../../src/language/expressions/value.ts';
import { checkQuery, runQuery, type RunWatch } from '../../src/language/run/run.ts';
import { createContext, type FoundSavedSearch } from '../../src/language/plan/query-context.ts';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { Problem } from '../../src/language/syntax/problem.ts';
import { Schema } from '../../src/language/run/schema.ts';
import type { Source } from '../../src/language/sources/source.ts';
import { extractPairs } from './pairs.ts';

const NOW = '2026-11-20T10:15:00.000000Z';

const EVENT_SCHEMA = new Schema([
  { name: 'id', type: 'int' },
  { name: 'index', type: 'text' },
  { name: 'sourcetype', type: 'text' },
  { name: 'source', type: 'text' },
  { name: 'host', type: 'text' },
  { name: 'data', type: 'text' },
  { name: 'created', type: 'time' },
  { name: 'updated', type: 'time' },
  { name: 'extracted_fields', type: 'json' },
  { name: '_time', type: 'time', isHidden: true },
  { name: 'event_time', type: 'time', isHidden: true },
]);

const LINES = readFileSync(join(import.meta.dir, '../golden/search-language.events.ndjson'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, string>);

function eventRows(): Row[] {
  return LINES.map((line, index) => {
    const time = `2026-11-20T${line['t']}.000000Z`;
    const { sourcetype, data } = line as { sourcetype: string; data: string };
    const members =
      sourcetype === 'json'
        ? (valueOfJson(data) as Record<string, Value>)
        : sourcetype === 'logfmt'
          ? extractPairs(data)
          : {};
    const fields = { event_time: time, ...members };
    return [
      index + 1,
      line['index']!,
      sourcetype,
      line['source']!,
      line['host']!,
      data,
      NOW,
      NOW,
      fields,
      time,
      time,
    ];
  });
}

/** A source of rows in memory; newest first goes by the column `_time`, then by id. */
export function memorySource(
  name: string,
  schema: Schema,
  rows: readonly Row[],
  readableIndexes: readonly string[] | null = null,
): Source {
  const time = schema.indexOf('_time');
  const newest = [...rows].sort((a, b) =>
    a[time]! < b[time]! ? 1 : a[time]! > b[time]! ? -1 : Number(b[0]) - Number(a[0]),
  );
  return {
    name,
    schema,
    readableIndexes,
    *read(order) {
      const all = order === 'forward' ? rows : newest;
      for (let at = 0; at < all.length; at += 3) yield all.slice(at, at + 3).map((row) => [...row]);
    },
  };
}

const ASSETS_SCHEMA = new Schema([
  { name: 'host', type: 'json' },
  { name: 'owner', type: 'json' },
  { name: 'tier', type: 'json' },
  { name: '_row_id', type: 'int', isHidden: true },
]);

/** The dataset of the fixture. */
export function assetsSource(): Source {
  const rows: Row[] = [
    ['alpha', 'soc', 1, 1],
    ['beta', 'web', 2, 2],
    ['epsilon', 'lab', 3, 3],
  ];
  return memorySource('assets', ASSETS_SCHEMA, rows);
}

export const SAVED: Record<string, FoundSavedSearch> = {
  S1: saved('S1', `search --select='["id","host"]' --limit=2`),
  filt: saved('filt', "filter --condition='host=alpha'"),
  loop: saved('loop', 'run_saved_search loop'),
  'by host': saved('by host', 'index={idx} | stats count BY host'),
  broken: saved('broken', 'search | hed --n=1'),
  dup: { kind: 'ambiguous-shared' },
};

function saved(key: string, query: string): FoundSavedSearch {
  return { kind: 'found', key, query };
}

interface Asked {
  readonly caller?: string;
  readonly params?: Record<string, Value>;
  readonly timezone?: string;
}

interface Answer {
  readonly rows: string | null;
  readonly problem: string | null;
  readonly notices: string[];
}

const freeMeter: RunWatch = { meter: { tick: () => {}, hold: () => {} }, onRead: () => {} };

/** What a query answers on the fixture. */
export function ask(text: string, { caller, params = {}, timezone = 'UTC' }: Asked = {}): Answer {
  const readable = caller === 'viewer' ? ['web'] : null;
  const rows = eventRows().filter(
    (row) => readable === null || readable.includes(row[1] as string),
  );
  const { context, notices } = createContext({
    now: NOW,
    timezone,
    parameters: params,
    implicitTerms: true,
    joinMaxRows: 100_000,
    source: (name) => {
      if (name.kind === 'events') return memorySource('events', EVENT_SCHEMA, rows, readable);
      if (name.kind === 'dataset' && name.name === 'assets') return assetsSource();
      return null;
    },
    datasetNames: ['assets'],
    readableIndexes: () => readable,
    savedSearch: (name) => SAVED[name] ?? { kind: 'missing' },
    extract: (_style, data) => extractPairs(data),
    watch: freeMeter,
  });
  const query = parseQuery(text, { implicitTerms: true });
  try {
    checkQuery(query, context);
    const { schema, batches } = runQuery(query, context, freeMeter);
    const shown = [...batches].flat().map((row) => {
      const members = schema.shown.map(
        ({ column, index }) => `${JSON.stringify(column.name)}:${jsonOf(row[index] ?? null)}`,
      );
      return `{${members.join(',')}}`;
    });
    return { rows: `[${shown.join(',')}]`, problem: null, notices: [...query.notices, ...notices] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, stage, offset, length, error: told } = error.told(text);
    return { rows: null, problem: `${code} ${stage} ${offset} ${length} ${told}`, notices };
  }
}
