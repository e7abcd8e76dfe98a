/**
 * The guide as people read it: as files beside each other, and as pages of a running server; no link leads nowhere in either.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { guideChapters } from '../../build/guide.ts';
import { documents } from '../../build/readme.ts';
import { type Client, type Service, startService } from '../support/service.ts';

const ROOT = resolve(import.meta.dir, '../..');
const chapters = await guideChapters();
const anchorsOf = new Map(
  chapters.map(({ name, outline }) => [
    `docs/${name || 'README'}.md`,
    new Set(outline.map(({ anchor }) => anchor)),
  ]),
);

describe('as files', () => {
  test.each(documents())('every link of %s leads to a file and a heading that exist', (file) => {
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/^( *)```[^]*?^\1```$/gm, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
    const wrong = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && anchorsOf.get(target)?.has(anchor) !== true;
    });
    expect(wrong).toEqual([]);
  });

  test('every chapter stands in the index, and README.md names each', () => {
    const listed = chapters.map(({ name }) => `docs/${name || 'README'}.md`);
    expect(documents().slice(1)).toEqual(listed.toSorted());
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    expect(listed.filter((file) => !readme.includes(`(${file})`))).toEqual([]);
  });
});

describe('as pages', () => {
  let svc: Service;
  let anna: Client;
  beforeAll(async () => {
    svc = await startService({ files: { 'docs/guide/tour.md': '# Of the folder\n' } });
    await svc.accounts.user('anna', { superuser: true });
    anna = svc.withHeaders({ 'X-API-Key': await svc.accounts.apiKey('anna'), Accept: 'text/html' });
  });
  afterAll(() => svc[Symbol.asyncDispose]());
  const pageOf = async (path: string): Promise<string> => (await anna.fetch(path)).text();

  test('every chapter is a page with its neighbours, and all its links answer', async () => {
    const seen = new Map<string, string>();
    for (const [index, { name, title }] of chapters.entries()) {
      const path = name === '' ? '/docs/guide' : `/docs/guide/${name}`;
      const page = await pageOf(path);
      seen.set(path, page);
      expect(page).toContain(`<title>${title} · svc</title>`);
      expect(page.includes('rel="next"')).toBe(index < chapters.length - 1);
      expect(page.includes('rel="prev"')).toBe(index > 0);
    }
    const links = new Set(
      [...seen.values()].flatMap((page) =>
        [...page.matchAll(/ href="(\/[^"]*)"/g)].map(([, href]) => href!),
      ),
    );
    for (const link of links) {
      const [path = '', anchor] = link.split('#');
      if (!seen.has(path)) {
        const response = await anna.fetch(path);
        expect([path, response.status]).toEqual([path, 200]);
        seen.set(path, await response.text());
      }
      if (anchor !== undefined)
        expect([link, seen.get(path)!.includes(`id="${anchor}"`)]).toEqual([link, true]);
    }
    expect(links.size).toBeGreaterThan(chapters.length);
  });

  test('words are found in all chapters, and what is in a heading comes first', async () => {
    const page = await pageOf('/docs/guide?q=API+keys');
    const hits = [...page.matchAll(/<li><a href="(\/docs\/guide[^"]*#[^"]*)">/g)].map(
      ([, href]) => href,
    );
    expect(hits[0]).toBe('/docs/guide/permissions#api-keys');
    expect(page).toContain('<mark>API</mark>');
    expect(await pageOf('/docs/guide?q=xyzzy+%3Cb%3E')).toContain(
      'No section has all the words of “xyzzy &lt;b',
    );
  });

  test('people who are not signed in are sent to sign in; programs get a 401', async () => {
    const asked = await svc.fetch('/docs/guide/tour', { headers: { Accept: 'text/html' } });
    expect([asked.status, asked.headers.get('location')]).toEqual([
      302,
      expect.stringContaining('/auth/login'),
    ]);
    expect((await svc.fetch('/docs/guide')).status).toBe(401);
  });

  test('a file of the folder with the same address has its own under its extension (DS-29)', async () => {
    expect(await pageOf('/docs/guide/tour.md')).toContain('Of the folder');
    expect((await anna.fetch('/docs/guide/nothing')).status).toBe(404);
  });

  test('the start page of an empty folder and the help of the command line lead to it', async () => {
    await using empty = await startService();
    await empty.accounts.user('root', { superuser: true });
    const root = await empty.inBrowserAs('root');
    const { stdout } = await empty.command(['--help']);
    expect(stdout).toContain('/docs/guide');
    const start = await root.fetch('/', { headers: { Accept: 'text/html' } });
    expect(await start.text()).toContain('href="/docs/guide/tour"');
  });
});
