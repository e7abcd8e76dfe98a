/**
 * Files that are hard to read (DS-34, DS-152, DS-159) take nothing away from anybody but themselves: pages, uploads, new
 * files and the search of others go on.
 */
import { expect, test } from 'bun:test';
import { soon } from './eventually.ts';
import { onSharedCores } from '../support/patience.ts';
import { type Client, startService } from '../support/service.ts';
import { upload } from './upload-form.ts';

/** Some parser needs the square of their length for each: minutes of processor time. */
const HARD: Readonly<Record<string, string>> = {
  'hard/emphasis.md': 'a**'.repeat(500_000),
  'hard/brackets.md': '['.repeat(1_500_000),
  'hard/numbers.md': '1. '.repeat(500_000),
  'hard/underlines.md': 'a__'.repeat(500_000),
};
const LIMIT_MS = onSharedCores(15_000);

/** An answer that is there in time; until it is 200 it is asked for again. */
async function got(client: Client, path: string, has = ''): Promise<string> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  for (; ; await Bun.sleep(50)) {
    const headers = { Accept: /^.(?:api|search)/.test(path) ? 'application/json' : 'text/html' };
    const response = await client.fetch(path, { signal, headers });
    const text = await response.text();
    if (response.status === 200 && text.includes(has)) return text;
  }
}

test('files made to be hard to read hold up nobody else', async () => {
  await using service = await startService({
    files: { 'good.csv': 'a\n1\n', 'good.md': '# Good\n' },
    config: { upload: { enabled: true } },
  });
  for (const name of ['anna', 'mallory']) await service.accounts.grant(name, '*', 'read');
  await service.accounts.grant('anna', '', 'write');
  const [anna, mallory] = await Promise.all([service.as('anna'), service.as('mallory')]);
  for (const [rel, text] of Object.entries(HARD)) service.write(rel, text);
  await got(mallory, '/', 'underlines');
  const gone = new AbortController();
  const asked = Object.keys(HARD).map((rel) =>
    mallory.fetch(`/${rel}`, { headers: { Accept: 'text/html' }, signal: gone.signal }).then(
      ({ status }) => status,
      () => 0,
    ),
  );
  await got(anna, '/good', 'Good');
  await got(anna, '/api/good/');
  const signal = AbortSignal.timeout(LIMIT_MS);
  const hurried: Client = { fetch: (path, init) => anna.fetch(path, { ...init, signal }) };
  expect((await upload(hurried, 'up.md', '# Giraffe\n')).status).toBe(201);
  expect((await upload(hurried, 'up.csv', 'word\nzebra\n')).status).toBe(201);
  expect(await got(anna, '/search?q=giraffe')).toContain('"resource":"up');
  service.write('new.csv', 'word\nwalrus\n');
  service.write('new.md', '# Pelican\n');
  await got(anna, '/api/new.csv/', 'walrus');
  await got(anna, '/new.md', 'Pelican');
  for (const word of ['walrus', 'pelican']) await got(anna, `/search?q=${word}`, '"resource":"new');
  gone.abort();
  await Promise.all(asked);
});

test('a page that takes too long is refused with the way out, and not tried again', async () => {
  await using service = await startService({
    files: { 'hard.md': HARD['hard/emphasis.md']!, 'good.md': '# Good\n' },
  });
  await service.accounts.grant('anna', '*', 'read');
  const anna = await service.as('anna');
  // What was written a moment ago may change without a sign of it.
  await Bun.sleep(2_100);
  const refused = await anna.fetch('/hard');
  expect(refused.status).toBe(413);
  expect(await refused.json()).toEqual({
    detail:
      "'hard.md' takes too long to be shown as a page; download it, or see its text with ?source=1",
  });
  const stops = (): number => service.stderr().split('"job":"render"').length - 1;
  await soon(stops).toBe(1);
  expect((await anna.fetch('/hard')).status).toBe(413);
  expect(stops()).toBe(1);
  const page = await (await anna.fetch('/hard', { headers: { Accept: 'text/html' } })).text();
  expect(page).toContain('<a class="button" href="?source=1">See its text</a>');
  expect(await got(anna, '/hard?source=1')).toContain('a**a**');
});
