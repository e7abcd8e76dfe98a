/** Datasets as they were, over edits and what other programs wrote (DS-254, DS-255). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { book } from './sheets.ts';
import { eventually } from './eventually.ts';

const PEOPLE =
  'name;age;height;since\nAda;36;1,70;01.02.2020\nBen;41;1,82;03.04.2021\nCyd;29;1,65;\n';

let svc: Service;
let anna: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'people.csv': PEOPLE,
      'types.csv': 'n,v\n1,10\n2,20\n3,30\n',
      'other.csv': `n,v\n${Array.from({ length: 40 }, (_, at) => `${at},x${at}`).join('\n')}\n`,
      'columns.csv': 'a,b\n1,x\n2,y\n',
      'lines.ndjson': '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n',
      'book.xlsx': await book({ A1: 'n', B1: 'v', A2: 1, B2: 'one', A3: 2, B3: 'two' }),
      'rights.csv': 'n\n1\n',
      'raced.csv': 'n,v\n1,a\n2,b\n',
      'undone.csv': 'n,v\n1,a\n2,b\n3,c\n4,d\n',
      'race.csv': 'n,v\n1,a\n',
    },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('anna', '', 'write');
  await svc.accounts.grant('reader', '*', 'read');
  anna = await svc.as('anna');
});
afterAll(() => svc[Symbol.asyncDispose]());

async function json(path: string, init: RequestInit = {}, status = 200) {
  const answer = await anna.fetch(path, init);
  const text = await answer.text();
  expect({ path, status: answer.status, text }).toMatchObject({ status });
  return text === '' ? null : JSON.parse(text);
}
const rows = (name: string, query = '') => json(`/api/${name}/${query}`);
const change = (name: string, method: string, body: object) =>
  json(`/api/${name}/`, {
    method,
    body: JSON.stringify(body),
    // Types may change.
    headers: { Prefer: 'handling=lenient' },
  });
interface Listed {
  readonly id: number;
  readonly user: string | null;
  readonly action: string;
  readonly count: number;
  readonly rows: {
    readonly _row_id: number;
    readonly before: object | null;
    readonly after: object | null;
  }[];
}
const history = (name: string): Promise<Listed[]> => json(`/api/${name}/history`);
/** As another program does it. */
const overwrite = async (
  file: string,
  name: string,
  content: string | Uint8Array,
): Promise<void> => {
  const before = (await history(name))[0]?.id ?? 0;
  writeFileSync(join(svc.docroot, file), content);
  await eventually(async () => {
    await rows(name);
    expect((await history(name))[0]?.id ?? 0).toBeGreaterThan(before);
  });
};

/** Makes the changes, and looks at every state from the last one. */
async function everyState(name: string, changes: readonly (() => Promise<unknown>)[]) {
  const states = [await rows(name)];
  const ids = [0];
  for (const make of changes) {
    await make();
    states.push(await rows(name));
    ids.push((await history(name))[0]!.id);
  }
  for (const [at, state] of states.entries()) {
    // Ids that others' changes made anew are those of then.
    expect({ at, rows: await rows(name, `?at=${ids[at]}`) }).toEqual({ at, rows: state });
  }
  return ids;
}

describe('every state of a dataset can be read again', () => {
  test('edits', async () => {
    await rows('people');
    await everyState('people', [
      () =>
        change('people', 'PATCH', {
          action: 'update',
          data: { _row_id: 2, age: 42, height: 1.83 },
        }),
      () =>
        change('people', 'POST', {
          action: 'create',
          data: [{ name: 'Dan', age: 5, since: '2022-01-01' }],
        }),
      () => change('people', 'DELETE', { action: 'delete', data: { _row_id: 1 } }),
      () =>
        change('people', 'PATCH', { action: 'update', data: { _row_id: 3, since: '2019-12-31' } }),
    ]);
  });

  test('types that came and went', async () => {
    await rows('types');
    const ids = await everyState('types', [
      () => change('types', 'PATCH', { action: 'update', data: { _row_id: 2, v: null } }),
      () => change('types', 'PATCH', { action: 'update', data: { _row_id: 3, v: 30.5 } }),
      async () => {
        const text = readFileSync(join(svc.docroot, 'types.csv'), 'utf8');
        await overwrite('types.csv', 'types', text.replace('30.5', 'many'));
      },
      () => change('types', 'PATCH', { action: 'update', data: { _row_id: 3, v: '7' } }),
    ]);
    expect((await json(`/schema/types/?at=${ids[3]}`)).columns.v.type).toBe('string');
    expect((await json(`/schema/types/?at=${ids[2]}`)).columns.v.type).toBe('number');
    expect((await json(`/schema/types/?at=${ids[1]}`)).columns.v.type).toBe('integer');
  });

  test('what other programs wrote, between edits, with rows that moved', async () => {
    await rows('other');
    const lines = (): string[] =>
      readFileSync(join(svc.docroot, 'other.csv'), 'utf8').trimEnd().split('\n');
    const ids = await everyState('other', [
      () => change('other', 'PATCH', { action: 'update', data: { _row_id: 5, v: 'edited' } }),
      () => {
        const [head, ...rest] = lines();
        rest.splice(10, 2);
        rest[20] = rest[20]!.replace(/,.*/, ',theirs');
        rest.unshift('99,new', '98,newer');
        return overwrite('other.csv', 'other', `${[head, ...rest].join('\n')}\n`);
      },
      () =>
        change('other', 'DELETE', { action: 'delete', data: [{ _row_id: 1 }, { _row_id: 30 }] }),
      () => {
        const [head, ...rest] = lines();
        return overwrite('other.csv', 'other', `${[head, ...rest.reverse()].join('\n')}\n`);
      },
      () => change('other', 'POST', { action: 'create', data: [{ n: 7, v: 'last' }] }),
    ]);
    const listed = (await history('other')).find(({ id }) => id === ids[2])!;
    expect(listed).toMatchObject({ user: null, action: 'external', count: 5 });
    expect(listed.rows).toContainEqual(
      expect.objectContaining({ before: { v: 'x22' }, after: { v: 'theirs' } }),
    );
  });

  test('what another program did is taken back, row by row where it can be', async () => {
    await rows('undone');
    const before = await rows('undone');
    await overwrite('undone.csv', 'undone', 'n,v\n9,new\n1,a\n2,B\n4,d\n');
    const [theirs] = await history('undone');
    expect(theirs).toMatchObject({ user: null, action: 'external', count: 3 });
    const undo = (body: object, status: number) =>
      json('/api/undone/history', { method: 'POST', body: JSON.stringify(body) }, status);
    await change('undone', 'PATCH', { action: 'update', data: { _row_id: 3, v: 'mine' } });
    expect((await undo({ change: theirs!.id }, 409)).detail).toContain(`row 3: 'v' is "mine" now`);
    expect(await undo({ change: theirs!.id, skip_conflicts: true }, 200)).toMatchObject({
      count: 2,
      skipped: [{ _row_id: 3 }],
    });
    expect(readFileSync(join(svc.docroot, 'undone.csv'), 'utf8')).toBe(
      'n,v\n1,a\n2,mine\n4,d\n3,c\n',
    );
    expect(await rows('undone', `?at=${theirs!.id - 1}`)).toEqual(before);
  });

  test('columns that came, of another order, and went', async () => {
    await rows('columns');
    await everyState('columns', [
      () => overwrite('columns.csv', 'columns', 'b,a\nx,1\ny,2\n'),
      () => overwrite('columns.csv', 'columns', 'a,b,c\n1,x,true\n2,y,false\n3,z,true\n'),
      () => change('columns', 'PATCH', { action: 'update', data: { _row_id: 1, c: false } }),
      () => overwrite('columns.csv', 'columns', 'z\n1\n'),
    ]);
  });

  test('of lines and worksheets', async () => {
    await rows('lines');
    await rows('book/Sheet');
    await everyState('lines', [
      () => change('lines', 'PATCH', { action: 'update', data: { _row_id: 1, b: 'z' } }),
      () => overwrite('lines.ndjson', 'lines', '{"a":2,"b":"y"}\n{"a":3}\n'),
    ]);
    const next = await book({
      A1: 'n',
      B1: 'v',
      A2: 1,
      B2: 'ONE',
      A3: 2,
      B3: 'two',
      A4: 3,
      B4: 'c',
    });
    await everyState('book/Sheet', [
      () => change('book/Sheet', 'PATCH', { action: 'update', data: { _row_id: 2, v: 'zwei' } }),
      () => overwrite('book.xlsx', 'book/Sheet', next),
    ]);
  });
});

describe('a former state', () => {
  test('is filtered, sorted, paged and exported, with a tag of its own', async () => {
    const [newest] = await history('people');
    const at = `at=${newest!.id - 1}`;
    expect(await rows('people', `?${at}&sort=-age&limit=1&columns=name`)).toMatchObject([
      { name: 'Ben' },
    ]);
    const page = await anna.fetch(`/api/people/?${at}&limit=2`);
    const link = /<([^>]+)>/.exec(page.headers.get('link') ?? '')![1]!;
    expect(link).toContain(at);
    expect(await json(link.replace(/^https?:\/\/[^/]+/, ''))).toHaveLength(1);
    const csv = await anna.fetch(`/api/people/?${at}&format=csv`);
    expect(await csv.text()).toContain('Cyd');
    const [then, now] = await Promise.all([
      anna.fetch(`/api/people/?${at}`),
      anna.fetch('/api/people/'),
    ]);
    const tag = then.headers.get('etag')!;
    expect(tag).not.toBe(now.headers.get('etag'));
    const again = await anna.fetch(`/api/people/?${at}`, { headers: { 'If-None-Match': tag } });
    expect(again.status).toBe(304);
    expect(await json(`/api/people/3/?${at}`)).toMatchObject({ name: 'Cyd', since: '' });
  });

  test('is found by its time', async () => {
    expect(await rows('people', '?at=2020-01-01T00:00:00Z')).toMatchObject([
      { age: 36 },
      { age: 41 },
      {},
    ]);
    const now = new Date(Date.now() + 60_000).toISOString();
    expect(await rows('people', `?at=${encodeURIComponent(now)}`)).toEqual(await rows('people'));
  });

  test('is for those who may write; others and slips are refused', async () => {
    const reader = await svc.as('reader');
    expect((await reader.fetch('/api/rights/?at=0')).status).toBe(403);
    expect((await reader.fetch('/api/rights/1/?at=0')).status).toBe(403);
    expect((await reader.fetch('/schema/rights/?at=0')).status).toBe(403);
    expect((await svc.fetch('/api/rights/?at=0')).status).toBe(401);
    expect((await anna.fetch('/api/rights/?at=yesterday')).status).toBe(422);
    expect((await anna.fetch('/api/nowhere/?at=0')).status).toBe(404);
  });

  test('does not move while edits go on', async () => {
    await rows('race');
    const start = (await history('race'))[0]?.id ?? 0;
    const write = async (): Promise<void> => {
      for (let at = 0; at < 15; at++) {
        await change('race', 'PATCH', { action: 'update', data: { _row_id: 1, v: `v${at}` } });
      }
    };
    const read = async (): Promise<void> => {
      for (let at = 0; at < 15; at++) {
        expect(await rows('race', `?at=${start}`)).toMatchObject([{ v: 'a' }]);
      }
    };
    await Promise.all([write(), read(), read()]);
  });
});

test('files put back race with edits and takings back: nothing is lost, nothing doubled', async () => {
  const send = (method: string, path: string, body: object) =>
    anna.fetch(path, { method, body: JSON.stringify(body) });
  const form = new FormData();
  form.set('filename', 'raced.csv');
  form.set('file', new File(['n,v\n1,first\n2,second\n3,third\n'], 'raced.csv'));
  await rows('raced');
  expect((await anna.fetch('/api/uploads', { method: 'POST', body: form })).status).toBe(201);
  const [upload] = await history('raced');
  const made = { update: 0, restore: 0, undo: 0 };
  const edits = async (row: number): Promise<void> => {
    for (let at = 0; at < 6; at++) {
      const data = { _row_id: row, v: `r${row} ${at}` };
      const answer = await send('PATCH', '/api/raced/', { action: 'update', data });
      expect([200, 404]).toContain(answer.status);
      if (answer.status === 200) made.update++;
    }
  };
  const restores = async (): Promise<void> => {
    for (let at = 0; at < 4; at++) {
      const content = upload!.id - (at % 2);
      const answer = await send('POST', '/api/raced/history', { content });
      expect([200, 409, 410]).toContain(answer.status);
      if (answer.status === 200 && ((await answer.json()) as { changed: boolean }).changed) {
        made.restore++;
      }
    }
  };
  const undos = async (): Promise<void> => {
    for (let at = 0; at < 4; at++) {
      const [newest] = await history('raced');
      const answer = await send('POST', '/api/raced/history', { change: newest!.id });
      expect([200, 404, 409]).toContain(answer.status);
      if (answer.status === 200) made.undo++;
    }
  };
  await Promise.all([edits(1), edits(2), restores(), undos()]);
  const present = await rows('raced');
  const listed = await history('raced');
  for (const action of ['update', 'restore', 'undo'] as const) {
    const entries = listed.filter((one) => one.action === action && one.id > upload!.id);
    expect({ action, count: entries.length }).toEqual({ action, count: made[action] });
  }
  expect(await rows('raced', `?at=${listed[0]!.id}`)).toEqual(present);
  // Every state can be gone back to, the first one too.
  for (const { id } of listed) expect((await anna.fetch(`/api/raced/?at=${id}`)).status).toBe(200);
  expect(await rows('raced', `?at=${upload!.id - 1}`)).toMatchObject([{ v: 'a' }, { v: 'b' }]);
  expect((await svc.command(['check', svc.docroot])).stdout).not.toContain('history:');
}, 60_000);
