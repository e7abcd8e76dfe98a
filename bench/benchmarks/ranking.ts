/**
 * ranking: how good the first ten results are, as NDCG@10 over judged queries, for the merged list of `svc`, FTS5 alone
 * and Orama alone. All three rank the same sections, rows and datasets, taken from the index that `svc` made.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { create, insert, search } from '@orama/orama';
import { Database } from 'bun:sqlite';
import { entryId, resourceNoOf } from '../../src/fulltext/entry-id.ts';
import { rowText } from '../../src/fulltext/row-text.ts';
import { CopyRows } from '../../src/tables/copy/copy-rows.ts';
import type { Benchmark, Finding } from '../benchmark.ts';
import { type Judgement, judgements, type Target } from '../judgements.ts';
import { BenchService } from '../service.ts';

const PACKAGES = join(import.meta.dir, '..', '..', 'node_modules');
const TABLES = [
  'airports',
  'seattle-weather',
  'us-employment',
  'gapminder-health-income',
  'la-riots',
  'iowa-electricity',
  'github',
  'disasters',
  'sp500',
  'stocks',
];
const TOP = 10;
/** Long texts cost Orama the square of their words. */
const ORAMA_CHARACTERS = 20_000;

interface Unit {
  readonly id: number;
  readonly resource: string;
  readonly title: string;
  readonly body: string;
}

type Ranking = (q: string) => Promise<Unit[]>;

export const ranking: Benchmark = {
  name: 'ranking',
  work: `NDCG@10 of ${judgements.length} judged queries over README files and CSV rows`,
  async run(bench) {
    await using service = await BenchService.start(bench);
    publishCorpus(service.docroot);
    const units = await indexedUnits(service);
    bench.say(`  ${units.length} sections, rows and datasets`);
    const rankings: Record<string, Ranking> = {
      svc: merged(service, units),
      'FTS5 alone': fts5(units),
      'Orama alone': orama(units),
    };
    const scores: Record<string, number[]> = {};
    for (const [name, rank] of Object.entries(rankings)) {
      scores[name] = [];
      for (const judgement of judgements)
        scores[name].push(ndcg(await rank(judgement.q), judgement));
    }
    for (const [index, { q }] of judgements.entries()) {
      const [own, fts, fuzzy] = Object.values(scores).map((all) => all[index]!);
      if (own! < Math.max(fts!, fuzzy!) - 0.1) {
        bench.say(
          `  ${q}: svc ${own!.toFixed(2)}, FTS5 ${fts!.toFixed(2)}, Orama ${fuzzy!.toFixed(2)}`,
        );
      }
    }
    return ['FTS5 alone', 'Orama alone'].flatMap((name) => findings(name, scores));
  },
};

function findings(name: string, scores: Record<string, number[]>): Finding[] {
  const kinds = ['', ...new Set(judgements.map(({ kind }) => kind))];
  return kinds.map((kind): Finding => {
    const mean = (of: string): number => {
      const chosen = scores[of]!.filter(
        (_, index) => kind === '' || judgements[index]!.kind === kind,
      );
      return chosen.reduce((sum, score) => sum + score, 0) / chosen.length;
    };
    return {
      part: kind === '' ? `all, to ${name}` : `${kind}, to ${name}`,
      subject: { name: 'svc', unit: 'NDCG@10', values: [mean('svc')] },
      reference: { name, unit: 'NDCG@10', values: [mean(name)] },
      goal: kind === '' ? { of: 'ratio', atLeast: 1 } : null,
    };
  });
}

function publishCorpus(docroot: string): void {
  mkdirSync(join(docroot, 'packages'));
  mkdirSync(join(docroot, 'data'));
  const names = readdirSync(PACKAGES).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(PACKAGES, name)).map((own) => `${name}/${own}`)
      : [name],
  );
  for (const name of names) {
    const file = ['README.md', 'readme.md', 'Readme.md']
      .map((readme) => join(PACKAGES, name, readme))
      .find(existsSync);
    const target = join(docroot, 'packages', `${name.split('/').at(-1)}.md`);
    if (file !== undefined && !existsSync(target)) copyFileSync(file, target);
  }
  for (const name of TABLES) {
    copyFileSync(
      join(PACKAGES, 'vega-datasets', 'data', `${name}.csv`),
      join(docroot, 'data', `${name}.csv`),
    );
  }
}

/** Everything in the index of the service, once it stands still. */
async function indexedUnits(service: BenchService): Promise<Unit[]> {
  let before = -1;
  for (;;) {
    await Bun.sleep(2_000);
    const metrics = await (await service.get('/metrics')).text();
    const documents = Number(/^svc_search_documents (\d+)$/m.exec(metrics)?.[1]);
    if (documents > 1_000 && documents === before) break;
    before = documents;
  }
  const db = new Database(join(service.stateDir, 'search', 'index.sqlite'), { readwrite: true });
  const resources = (
    db.query("SELECT no, key, copy FROM resources WHERE state = 'live'").values() as [
      number,
      string,
      string | null,
    ][]
  ).map(([no, key, copy]) => ({ no, name: key.replace(/\.\w+$/, ''), copy }));
  const nameOf = new Map(resources.map(({ no, name }) => [no, name]));
  const rows = db.query("SELECT id, title, body || ifnull(rest, '') FROM entries").values() as [
    number,
    string,
    string,
  ][];
  db.close();
  const units = rows.flatMap(([id, title, body]): Unit[] => {
    const resource = nameOf.get(resourceNoOf(id));
    return resource === undefined ? [] : [{ id, resource, title, body }];
  });
  for (const { no, name, copy } of resources) {
    if (copy === null) continue;
    const table = new CopyRows(join(service.stateDir, 'tables', copy));
    for (const [rowId, ...cells] of table.after(0, Number.MAX_SAFE_INTEGER))
      units.push({ id: entryId(no, rowId), resource: name, ...rowText(cells, table.names) });
    table.close();
  }
  return units;
}

function merged(service: BenchService, units: readonly Unit[]): Ranking {
  return async (q) => {
    const answer = (await (
      await service.get(`/search?limit=${TOP}&q=${encodeURIComponent(q)}`)
    ).json()) as {
      results: { resource: string; title: string; snippet: string; row_id?: number }[];
    };
    return answer.results.map(({ resource, title, snippet, row_id: row }) => {
      const same = units.find(
        (unit) =>
          unit.resource === resource &&
          unit.title === title &&
          (row === undefined || unit.id % 2 ** 32 === row),
      );
      return same ?? { id: -1, resource, title, body: snippet };
    });
  };
}

function fts5(units: readonly Unit[]): Ranking {
  const db = new Database(':memory:');
  db.run(
    "CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize='unicode61 remove_diacritics 2')",
  );
  const add = db.prepare('INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)');
  db.transaction(() => units.forEach(({ title, body }, index) => add.run(index, title, body)))();
  const find = db.query(
    'SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 10, 1) LIMIT ?',
  );
  return async (q) => {
    const words = q.match(/[\p{L}\p{N}_]+/gu)!.map((word) => `"${word}"`);
    return find.values(`${words.join(' ')}*`, TOP).map(([index]) => units[index as number]!);
  };
}

function orama(units: readonly Unit[]): Ranking {
  const db = create({ schema: { title: 'string', body: 'string' } as const });
  for (const [index, { title, body }] of units.entries()) {
    insert(db, { id: String(index), title, body: body.slice(0, ORAMA_CHARACTERS) });
  }
  return async (q) => {
    const { hits } = (await search(db, {
      term: q,
      boost: { title: 10 },
      tolerance: 1,
      threshold: 0,
      limit: TOP,
    })) as { hits: { id: string }[] };
    return hits.map(({ id }) => units[Number(id)]!);
  };
}

/** Normalised discounted cumulative gain of the first ten; a target counts once. */
function ndcg(found: readonly Unit[], { targets }: Judgement): number {
  const left = new Set(targets);
  let gained = 0;
  for (const [rank, unit] of found.slice(0, TOP).entries()) {
    const target = targets.find((candidate) => left.has(candidate) && isTarget(unit, candidate));
    if (target === undefined) continue;
    left.delete(target);
    gained += gainOf(target, rank);
  }
  const best = [...targets].sort((a, b) => b.gain - a.gain);
  return gained / best.reduce((sum, target, rank) => sum + gainOf(target, rank), 0);
}

function gainOf({ gain }: Target, rank: number): number {
  return (2 ** gain - 1) / Math.log2(rank + 2);
}

function isTarget({ resource, title, body }: Unit, target: Target): boolean {
  return (
    resource === target.resource &&
    (target.title === undefined || title.startsWith(target.title)) &&
    (target.text === undefined || `${title}\n${body}`.includes(target.text))
  );
}
