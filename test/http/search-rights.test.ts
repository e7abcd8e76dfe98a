/**
 * Nobody learns anything by searching that he may not read (DS-118, DS-128, DS-150).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startService, type Client, type Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { found, foundOnPages, searched } from './searching.ts';
import { seeded } from './seed.ts';

const WORDS = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord', 'grove', 'heath'];
const NAMES = ['a', 'b', 'deep/c', 'deep/d', 'deep/er/e', 'f-g', 'f'];

let svc: Service;
let root: Client;
const random = numbersFrom(seeded('search-rights', 1).seed);

/** Numbers from 0 up to 1, the same for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function word(): string {
  return WORDS[Math.floor(random() * WORDS.length)]!;
}

function table(): string {
  const rows = Array.from({ length: 40 }, () => `${word()} ${word()},${word()}`);
  return `title,${word()}\n${rows.join('\n')}\n`;
}

beforeAll(async () => {
  const files = Object.fromEntries(NAMES.map((name) => [`${name}.csv`, table()]));
  svc = await startService({ files: { ...files, 'secretplan.csv': 'code\nxylophone\n' } });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await eventually(async () => {
    expect(await found(root, 'xylophone')).toEqual(['secretplan#1']);
    for (const name of NAMES) {
      expect(await found(root, name.split('/').at(-1)!, { limit: '100' })).toContain(name);
    }
  });
});
afterAll(async () => svc[Symbol.asyncDispose]());

test('an anonymous caller is asked to sign in', async () => {
  expect((await svc.fetch('/search?q=amber')).status).toBe(401);
  const page = await svc.fetch('/search?q=amber', { headers: { Accept: 'text/html' } });
  expect(page.status).toBe(302);
});

test('a user without any right finds nothing, whatever there is', async () => {
  const nobody = await svc.as('nobody');
  for (const q of ['amber', 'xylophone', 'secretplan', 'sekretplan', 'xylo', 'code']) {
    expect(await searched(nobody, q)).toEqual({
      query: q,
      count: 0,
      has_more: false,
      results: [],
    });
  }
  const page = await nobody.fetch('/search?q=xylophone', { headers: { Accept: 'text/html' } });
  expect(await page.text()).toContain('Nothing found');
});

test('the right to write is none to find', async () => {
  await svc.accounts.grant('writer', 'secretplan', 'write');
  expect(await found(await svc.as('writer'), 'xylophone')).toEqual([]);
});

test('a right counts from the next request on', async () => {
  const late = await svc.as('late');
  expect(await found(late, 'xylophone')).toEqual([]);
  await svc.accounts.grant('late', 'secretplan.csv', 'read');
  expect(await found(late, 'xylophone')).toEqual(['secretplan#1']);
});

test('a scoped key finds what its scopes cover only', async () => {
  const value = await svc.accounts.apiKey('root', ['read:deep/*']);
  const scoped = svc.withHeaders({ 'X-API-Key': value });
  const resources = await found(scoped, 'amber', { limit: '100' });
  expect(resources.every((name) => name.startsWith('deep/'))).toBe(true);
  expect(await found(scoped, 'xylophone')).toEqual([]);
});

test('the results of a user are those of a superuser without what he may not read, scores included', async () => {
  for (let round = 0; round < 6; round++) {
    const user = `reader${round}`;
    const readable = NAMES.filter(() => random() < 0.5);
    for (const name of readable) await svc.accounts.grant(user, name, 'read');
    const client = await svc.as(user);
    for (const q of [word(), `${word()} ${word()}`, `${word()} ${word().slice(0, 2)}`, 'tittle']) {
      const own = await foundOnPages(client, q, 7);
      const all = await foundOnPages(root, q, 100);
      expect(own).toEqual(all.filter((hit) => readable.includes(hit.split('#')[0]!)));
      const limit = { limit: '100' };
      const scores = new Map(
        (await searched(root, q, limit)).results.map((hit) => [
          `${hit.resource}#${hit.row_id}`,
          hit.score,
        ]),
      );
      for (const hit of (await searched(client, q, limit)).results) {
        const score = scores.get(`${hit.resource}#${hit.row_id}`);
        if (score !== undefined) expect(hit.score).toBe(score);
      }
    }
  }
});

test('what others write does not move the score of a hit (DS-150)', async () => {
  await svc.accounts.grant('steady', 'a', 'read');
  const steady = await svc.as('steady');
  const before = await searched(steady, 'amber birch');
  svc.write('hidden.csv', `x\n${'amber birch\n'.repeat(500)}`);
  await eventually(async () => {
    expect(await found(root, 'hidden', { limit: '5' })).toContain('hidden');
  });
  expect(await searched(steady, 'amber birch')).toEqual(before);
});
