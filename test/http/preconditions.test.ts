/**
 * `If-Match` on changes (DS-82): which tags match, and what a refusal says.
 */
import { describe, expect, test } from 'bun:test';
import { change, create, currentTag, remove, update, versionOf, writeState } from './changes.ts';
import type { Changed } from './changes.ts';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const LARGE = `id,text\n${Array.from({ length: 200 }, (_, id) => `${id},some text of row ${id}`).join('\n')}\n`;

const shared = sharedService({
  files: {
    'a.csv': 'n,t\n1,x\n2,y\n',
    'other.csv': 'n,t\n1,x\n2,y\n',
    'large.csv': LARGE,
    'folder/deep.csv': 'n\n1\n',
    'folder/deep.txt': 'shares the name',
  },
});

const writer = () => shared.writer;
let counter = 100;

/** Changes `a` to something new under the condition. */
function attempt(ifMatch: string, name = 'a'): Promise<Changed> {
  const data =
    name === 'large' ? { _row_id: 1, text: `t${counter++}` } : { _row_id: 1, n: counter++ };
  return update(writer(), name, data, { 'If-Match': ifMatch });
}

describe('a tag of the present version matches (DS-82)', () => {
  test.each([
    '',
    '?limit=1',
    '?offset=1',
    '?filter={"n":2}',
    '?filter={"n":99999}',
    '?sort=-n',
    '?q=y',
    '?columns=t',
    '?format=csv',
    '?format=ndjson',
  ])('the one of the query %p', async (query) => {
    const tag = await currentTag(writer(), 'a', query);
    const changed = await attempt(tag);
    expect(changed.status).toBe(200);
    expect(versionOf(changed.etag)).not.toBe(versionOf(tag));
  });

  test('the one of the schema', async () => {
    const tag = (await writer().fetch('/schema/a/')).headers.get('ETag') ?? '';
    expect((await attempt(tag)).status).toBe(200);
  });

  test('the one of a compressed answer (DS-19)', async () => {
    const key = await shared.service.accounts.apiKey('writer');
    const { headers } = await rawRequest(shared.service.url, {
      path: '/api/large/',
      headers: { 'X-API-Key': key, 'Accept-Encoding': 'gzip' },
    });
    const tag = headers['etag'] ?? '';
    expect(tag).toEndWith('-gz"');
    expect((await attempt(tag, 'large')).status).toBe(200);
    expect((await attempt(tag, 'large')).status).toBe(412);
  });

  test('the one of a change before, of each kind, in a chain', async () => {
    const created = await create(writer(), 'a', [{ n: 7 }], { 'If-Match': '*' });
    const updated = await update(writer(), 'a', { _row_id: 1, n: 8 }, { 'If-Match': created.etag });
    const [id = 0] = created.rowIds;
    const removed = await remove(writer(), 'a', id, { 'If-Match': updated.etag });
    expect([created, updated, removed].map(({ status }) => status)).toEqual([200, 200, 200]);
    const late = await update(writer(), 'a', { _row_id: 1, n: 9 }, { 'If-Match': updated.etag });
    expect(late.status).toBe(412);
  });

  test('the one of a change that wrote nothing (DS-80)', async () => {
    const { etag } = await create(writer(), 'a', []);
    expect((await attempt(etag)).status).toBe(200);
  });

  test('the one a refusal carries', async () => {
    const { etag } = await attempt('"stale"');
    expect((await attempt(etag)).status).toBe(200);
  });

  test('any of a list, with whatever blanks between', async () => {
    const lists = [
      (tag: string) => `"nope", ${tag}`,
      (tag: string) => `${tag},"nope"`,
      (tag: string) => `"a.b" , W/"c" ,${tag}\t, "d"`,
      (tag: string) => `${tag}, ${tag}`,
    ];
    for (const list of lists) {
      expect((await attempt(list(await currentTag(writer(), 'a')))).status).toBe(200);
    }
  });

  test('of any name form of the resource (DS-25)', async () => {
    const tag = await currentTag(writer(), 'folder/deep.csv');
    const changed = await update(
      writer(),
      'folder/deep',
      { _row_id: 1, n: 2 },
      { 'If-Match': tag },
    );
    expect(changed.status).toBe(200);
  });

  test.each(['*', ' * '])('%p matches any version', async (value) => {
    expect((await attempt(value)).status).toBe(200);
  });
});

describe('anything else is refused with the present version (DS-82)', () => {
  const tags: readonly (readonly [string, (tag: string) => string])[] = [
    ['an old version', () => '"0123456789abcdef"'],
    ['a weak tag', (tag) => `W/${tag}`],
    ['a list of weak tags', (tag) => `W/${tag}, W/"x"`],
    ['a tag without quotes', (tag) => tag.slice(1, -1)],
    ['a quoted star', () => '"*"'],
    ['a quoted star with a query part', () => '"*.x"'],
    ['a star in a list', () => '"x", *'],
    ['an empty tag', () => '""'],
    ['no tag at all', () => ','],
    ['garbage', () => 'x y z'],
    ['half a tag', (tag) => tag.slice(0, -1)],
    ['a prefix of the version', (tag) => `"${versionOf(tag).slice(0, -1)}"`],
    ['the version with something behind', (tag) => `"${versionOf(tag)}0"`],
    ['the version in capitals', (tag) => `"${versionOf(tag).toUpperCase()}x"`],
    ['the query part alone', (tag) => `".${tag.split('.')[1]}`],
  ];

  test.each(tags)('%s', async (_, make) => {
    const { service } = shared;
    const tag = await currentTag(writer(), 'a');
    const state = writeState(service, 'a.csv');
    const ifMatch = make(tag);
    const data = { _row_id: 1, n: counter++ };
    const attempts = [
      await update(writer(), 'a', data, { 'If-Match': ifMatch }),
      await create(writer(), 'a', [{ n: 1 }], { 'If-Match': ifMatch }),
      await remove(writer(), 'a', 1, { 'If-Match': ifMatch }),
    ];
    for (const { status, detail, etag } of attempts) {
      expect({ status, detail }).toEqual({
        status: 412,
        detail: "Precondition failed: 'a' has changed",
      });
      expect(etag).toMatch(/^"[^"]+"$/);
      expect(versionOf(etag)).toBe(versionOf(tag));
    }
    expect(writeState(service, 'a.csv')).toEqual(state);
  });

  test('the tag of another dataset with the same content', async () => {
    expect((await attempt(await currentTag(writer(), 'other'))).status).toBe(412);
  });

  test('the tag from before an external edit, also of one that came a moment ago (DS-143)', async () => {
    const { service } = shared;
    for (let round = 0; round < 10; round++) {
      const tag = await currentTag(writer(), 'other');
      service.write('other.csv', `n,t\n${round},z\n`);
      const refused = await attempt(tag, 'other');
      expect({ round, status: refused.status }).toEqual({ round, status: 412 });
      expect(versionOf(refused.etag)).toBe(versionOf(await currentTag(writer(), 'other')));
    }
  });

  test('the text names the canonical name, whatever was typed', async () => {
    const headers = { 'If-Match': '"x"' };
    const { detail } = await update(writer(), 'folder/deep.csv', { _row_id: 1, n: 5 }, headers);
    expect(detail).toBe("Precondition failed: 'folder/deep' has changed");
  });

  test('a change that would write nothing is refused all the same', async () => {
    expect((await create(writer(), 'a', [], { 'If-Match': '"x"' })).status).toBe(412);
    expect((await update(writer(), 'a', { _row_id: 1 }, { 'If-Match': '"x"' })).status).toBe(412);
  });
});

test('If-Match is for changes: a read ignores it', async () => {
  const headers = { 'If-Match': '"x"' };
  expect((await writer().fetch('/api/a/', { headers })).status).toBe(200);
});

test('If-None-Match does not keep a change from being made', async () => {
  const tag = await currentTag(writer(), 'a');
  const body = { action: 'update', data: { _row_id: 1, n: counter++ } };
  for (const value of [tag, '*']) {
    const headers = { 'If-None-Match': value };
    expect((await change(writer(), 'PATCH', 'a', body, headers)).status).toBe(200);
  }
});
