/**
 * What a search finds and how it is shown (DS-145 to DS-149, DS-151).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService, type Client, type Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { found, foundOnPages, searched } from './searching.ts';

const many = Array.from(
  { length: 2500 },
  (_, index) => `${index + 1},bulk item ${index + 1},common`,
);

let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'people.csv':
        'name,city,note\nAda Lovelace,London,first programmer\nGrace Hopper,New York,compiler\nÅsa Müller,Zürich,"<b>bold</b> & loud"\n,,orphan note\nLondon Bridge,Lake Havasu,moved\n',
      'teams/players.csv': 'player,club\nMarta,Orlando Pride\nMegan,Pride London\n',
      'bulk.csv': `id,label,kind\n${many.join('\n')}\n`,
      'long.csv': `text\n"${Array.from({ length: 80 }, (_, n) => `word${n}`).join(' ')} needle ${Array.from({ length: 80 }, (_, n) => `tail${n}`).join(' ')}"\n`,
      'crowd.csv': `who\tin\n${Array.from({ length: 3500 }, (_, n) => (n === 2000 || n === 3000 ? 'crowd\tcrowd' : `p${n}\tcrowd`)).join('\n')}\n`,
      'thermometer.csv': 'reading\n21\n',
    },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await eventually(async () => {
    expect((await searched(root, 'bulk 2500')).count).toBe(1);
    expect((await searched(root, 'ada')).count).toBe(1);
    expect((await searched(root, 'p3499')).count).toBe(1);
    for (const q of ['marta', 'needle', 'thermometer']) {
      expect((await searched(root, q)).count).toBeGreaterThan(0);
    }
  });
});
afterAll(async () => svc[Symbol.asyncDispose]());

describe('results', () => {
  test('a row has its title, its snippet and the address that returns exactly it (DS-146, DS-151)', async () => {
    const answer = await searched(root, 'grace');
    expect(answer).toEqual({
      query: 'grace',
      count: 1,
      has_more: false,
      results: [
        {
          resource: 'people',
          type: 'csv',
          title: 'Grace Hopper',
          snippet: 'name: <mark>Grace</mark> Hopper | city: New York | note: compiler',
          score: expect.any(Number),
          ui_url: '/ui/people',
          api_url: '/api/people/?filter=%7B%22_row_id%22%3A2%7D',
          row_id: 2,
        },
      ],
    });
    const rows = (await (await root.fetch(answer.results[0]!.api_url!)).json()) as {
      name: string;
    }[];
    expect(rows.map(({ name }) => name)).toEqual(['Grace Hopper']);
  });

  test('a dataset is found by its name and by its columns', async () => {
    const byName = await searched(root, 'players');
    expect(byName.results[0]).toMatchObject({ resource: 'teams/players', title: 'players' });
    expect(byName.results[0]).not.toHaveProperty('row_id');
    expect(byName.results[0]!.ui_url).toBe('/ui/teams/players');
    expect(await found(root, 'reading')).toContain('thermometer');
  });

  test('all words must occur, the last one as a beginning (DS-147)', async () => {
    expect(await found(root, 'ada london')).toEqual(['people#1']);
    expect(await found(root, 'ada lon')).toEqual(['people#1']);
    expect(await found(root, 'lon ada')).toEqual([]);
    expect(await found(root, 'ada zurich')).toEqual([]);
  });

  test('case and diacritics make no difference (DS-147)', async () => {
    expect(await found(root, 'ASA ZURICH')).toEqual(['people#3']);
    expect(await found(root, 'åsa züri')).toEqual(['people#3']);
    expect(await found(root, 'MULLER')).toEqual(['people#3']);
  });

  test('everything but words is ignored (DS-147)', async () => {
    for (const q of [
      '"ada"',
      'ada*',
      '(ada)',
      'ada AND',
      '-ada^',
      'ada:lovelace',
      "ada' lovelace;--",
    ]) {
      const expected = /and$/i.test(q) ? [] : ['people#1'];
      expect(await found(root, q)).toEqual(expected);
    }
  });

  test('a query without a word finds nothing (DS-147)', async () => {
    for (const q of ['', '   ', '"" -- !!', '\u0000']) {
      expect(await searched(root, q)).toMatchObject({ count: 0, has_more: false, results: [] });
    }
    const bare = (await (await root.fetch('/search')).json()) as object;
    expect(bare).toEqual({ query: '', count: 0, has_more: false, results: [] });
  });

  test('words past the sixteenth do not count (DS-147)', async () => {
    const sixteen = Array.from({ length: 15 }, () => 'ada').join(' ');
    expect(await found(root, `${sixteen} lovelace nowhere`)).toEqual(['people#1']);
  });

  test('a hit in the title stands before hits in the body (DS-148)', async () => {
    expect((await found(root, 'pride')).slice(0, 2)).toEqual([
      'teams/players#1',
      'teams/players#2',
    ]);
    expect((await found(root, 'london'))[0]).toBe('people#5');
    expect((await found(root, 'london')).toSorted()).toEqual([
      'people#1',
      'people#5',
      'teams/players#2',
    ]);
  });

  test('scores have four decimals at most and never grow along the list (DS-146)', async () => {
    const { results } = await searched(root, 'common', { limit: '100' });
    const scores = results.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    for (const score of scores) expect(Math.round(score * 10_000) / 10_000).toBe(score);
  });

  test('mistyped titles of documents follow the exact matches; those of rows do not match (DS-148)', async () => {
    expect(await found(root, 'termometer')).toEqual(['thermometer']);
    expect(await found(root, 'thermomteer')).toEqual(['thermometer']);
    expect(await found(root, 'playrs')).toEqual(['teams/players']);
    expect(await found(root, 'plyrs')).toEqual([]);
    expect(await found(root, 'lovelase')).toEqual([]);
    const exact = await searched(root, 'players');
    const typed = await searched(root, 'playrs');
    expect(typed.results[0]!.score).toBeLessThan(exact.results[0]!.score);
  });

  test('a snippet is some two dozen words around the hit, cut ends marked (DS-149)', async () => {
    const { snippet } = (await searched(root, 'needle')).results[0]!;
    expect(snippet).toStartWith('…');
    expect(snippet).toEndWith('…');
    expect(snippet).toContain('<mark>needle</mark>');
    const words = snippet.match(/\w+/g)!.length;
    expect(words).toBeGreaterThan(20);
    expect(words).toBeLessThan(32);
  });

  test('texts are escaped in snippets, in JSON too; titles are plain (DS-149)', async () => {
    const { snippet } = (await searched(root, 'bold')).results[0]!;
    expect(snippet).toContain('&lt;b&gt;<mark>bold</mark>&lt;/b&gt; &amp; loud');
    const page = await root.fetch('/search?q=bold', { headers: { Accept: 'text/html' } });
    const html = await page.text();
    expect(html).toContain('&lt;b&gt;');
    expect(html).toContain('<mark>bold</mark>');
    expect(html).not.toContain('<b>');
    // The way to the same words among the events.
    expect(html).toContain('href="/events?q=%22bold%22"');
  });

  test('a row without a first cell is titled by the next one (DS-151)', async () => {
    const { results } = await searched(root, 'orphan');
    expect(results[0]!.title).toBe('orphan note');
  });
});

describe('pages', () => {
  test('pages are full, follow each other without gaps, and the end is told (DS-150)', async () => {
    const all = await foundOnPages(root, 'bulk item', 100);
    const rows = new Set(all.filter((name) => /#\d/.test(name)));
    expect(rows.size).toBe(2500);
    expect(all.length).toBe(new Set(all).size);
  });

  test('of very many matches those with the word in the title come first (DS-148)', async () => {
    const { results } = await searched(root, 'crowd');
    expect(results.slice(0, 2).map(({ row_id: row }) => row)).toEqual([2001, 3001]);
    expect(results[2]).toMatchObject({ resource: 'crowd', title: 'crowd' });
  });

  test('beyond the end there is an empty page (DS-145)', async () => {
    const answer = await searched(root, 'grace', { offset: '100000000' });
    expect(answer).toMatchObject({ count: 0, has_more: false, results: [] });
  });

  test('limit and offset out of range are refused (DS-145)', async () => {
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=1.5']) {
      expect((await root.fetch(`/search?q=ada&${query}`)).status).toBe(422);
    }
  });

  test('types narrow the list; an unknown one matches nothing (DS-145)', async () => {
    expect(await found(root, 'ada', { type: 'csv' })).toEqual(['people#1']);
    expect(await found(root, 'ada', { type: 'markdown, csv' })).toEqual(['people#1']);
    expect(await found(root, 'ada', { type: 'markdown' })).toEqual([]);
    expect(await found(root, 'ada', { type: 'nonsense' })).toEqual([]);
  });

  test('browsers get a page with the results and links to the others', async () => {
    const page = await root.fetch('/search?q=bulk&limit=10&offset=10', {
      headers: { Accept: 'text/html' },
    });
    expect(page.headers.get('content-type')).toStartWith('text/html');
    const html = await page.text();
    expect(html).toContain('Results 11–20, and more');
    expect(html).toContain('rel="prev" href="/search?q=bulk&amp;limit=10"');
    expect(html).toContain('offset=20');
    const empty = await root.fetch('/search?q=zzzz', { headers: { Accept: 'text/html' } });
    expect(await empty.text()).toContain('Nothing found');
  });

  test('the number of documents is a metric (DS-189)', async () => {
    const text = await (await root.fetch('/metrics')).text();
    const documents = Number(/^svc_search_documents (\d+)$/m.exec(text)![1]);
    expect(documents).toBe(5 + 2 + 2500 + 1 + 1 + 3500 + 6);
  });
});
