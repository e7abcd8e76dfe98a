/**
 * Hostile, damaged and slow documents and media (B-M): each is shown as harmless text, sent inert, or refused in time; the
 * file stays as it is, and nothing else suffers.
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'bun:test';
import {
  hostileDocuments,
  hostileFiles,
  hostileMedia,
  slowDocuments,
} from '../plugins/document-corpus.ts';
import { childrenOf, forgetPeak, memoryOf } from './process-memory.ts';
import { sharedService } from './shared-service.ts';
import { patienceFor } from '../support/patience.ts';

const MIB = 1024 * 1024;
const WORKER_BYTES = 512 * MIB;
/** What a caller waits for; the limit of the server itself is longer. */
const PATIENCE_MS = 10_000;
/** At full length they keep the processors busy for a minute; `bun run faults` tries that. */
const SHORT = 0.05;
const PAGE = { Accept: 'text/html' };
/** Elements and attributes of a page that act, or that reach out to other servers. */
const ACTING_ELEMENTS =
  /^(?:script|style|iframe|object|embed|base|meta|link|form|button|svg|math|template|noscript|animate|foreignobject)$/;
const ACTING_ADDRESS = /^\s*(?:javascript|vbscript|data|file|\/\/|https?:\/\/evil)/i;

const shared = sharedService({ files: { 'good.csv': 'a\n1\n', 'good.md': '# Good\n' } });

let before: number;
const placed = new Map<string, string>();

beforeAll(() => {
  const { service } = shared;
  before = memoryOf(service.pid)!.resident;
  forgetPeak(service.pid);
  const put = (rel: string, content: string | Uint8Array) => {
    service.write(rel, content);
    placed.set(rel, stateOf(rel));
  };
  for (const { name, make } of hostileDocuments) put(`documents/${name}.md`, make());
  for (const [name, make] of slowDocuments) put(`slow/${name}.md`, make(SHORT));
  for (const [name, make] of hostileMedia) put(`media files/${name}`, make());
  for (const [name, make] of hostileFiles) put(`files/${name}`, make());
});

function stateOf(rel: string): string {
  const path = join(shared.service.docroot, rel);
  const { ino, mtimeMs, ctimeMs } = statSync(path);
  const digest = createHash('sha1').update(readFileSync(path)).digest('hex');
  return [ino, mtimeMs, ctimeMs, digest].join(' ');
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** The answer, once the file is noticed. */
async function got(path: string, headers: Record<string, string> = {}): Promise<Response> {
  for (const deadline = performance.now() + patienceFor(PATIENCE_MS); ; await Bun.sleep(20)) {
    const signal = AbortSignal.timeout(patienceFor(PATIENCE_MS));
    const response = await shared.reader.fetch(encoded(path), { headers, signal });
    if (response.status !== 404 || performance.now() > deadline) return response;
    await response.body?.cancel();
  }
}

/** What stands in the article of a page. */
interface Article {
  readonly elements: string[];
  readonly attributes: string[];
  readonly addresses: string[];
}

async function articleOf(page: string): Promise<Article> {
  const article: Article = { elements: [], attributes: [], addresses: [] };
  new HTMLRewriter()
    .on('article *', {
      element(element) {
        // A task is a box that cannot be ticked.
        const isTask =
          element.getAttribute('type') === 'checkbox' && element.hasAttribute('disabled');
        const isInput = element.tagName === 'input' && !isTask;
        article.elements.push(isInput ? 'button' : element.tagName);
        for (const [name, value] of element.attributes) {
          article.attributes.push(name);
          if (/^(?:href|src|action|poster|cite)$/.test(name)) article.addresses.push(value);
        }
      },
    })
    .transform(page);
  return article;
}

/** Elements of a whole page that only hostile text would have made. */
function actingIn(page: string): string[] {
  const found: string[] = [];
  new HTMLRewriter()
    .on('*', {
      element({ tagName, attributes }) {
        const own = new Map([...attributes].map(([name, value]) => [name, value] as const));
        const isForeign = tagName === 'script' && own.get('src')?.startsWith('/_svc/') !== true;
        const acts = [...own.keys()].some((name) => name.startsWith('on'));
        if (isForeign || acts || own.get('src') === 'x') found.push(tagName);
      },
    })
    .transform(page);
  return found;
}

describe('a Markdown document with', () => {
  test.each(hostileDocuments.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    const rel = `documents/${name}.md`;
    const response = await got(`/documents/${name}`, PAGE);
    const text = await response.text();
    expect(response.status).toBe(one.verdict === 'page' ? 200 : 413);
    if (one.verdict === 'page') {
      expect(text).toContain(one.keeps!);
      const { elements, attributes, addresses } = await articleOf(text);
      expect(elements.filter((element) => ACTING_ELEMENTS.test(element))).toEqual([]);
      expect(attributes.filter((attribute) => /^on|^style$|^srcdoc$/.test(attribute))).toEqual([]);
      expect(addresses.filter((address) => ACTING_ADDRESS.test(address))).toEqual([]);
      expect(text).not.toMatch(/root:.*:0:0/);
    }
    expect(stateOf(rel)).toBe(placed.get(rel)!);
  });

  test('what a parser needs long for is shown, or refused as too large', async () => {
    for (const [name] of slowDocuments) {
      const response = await got(`/slow/${name}`, PAGE);
      expect([name, [200, 413].includes(response.status)]).toEqual([name, true]);
      await response.body?.cancel();
      expect(stateOf(`slow/${name}.md`)).toBe(placed.get(`slow/${name}.md`)!);
    }
  });

  test('anything of this can be downloaded as it is', async () => {
    for (const name of ['nested quotes', 'script']) {
      const response = await shared.reader.fetch(`/documents/${encoded(name)}?download=true`);
      expect(response.headers.get('content-disposition')).toStartWith('attachment');
      const { make } = hostileDocuments.find((one) => one.name === name)!;
      expect(await response.text()).toBe(make());
    }
  });
});

describe('a media file with', () => {
  test.each(hostileMedia.map(([name, make]) => [name, make] as const))('%s', async (name, make) => {
    const path = `/media/media files/${name}`;
    const whole = await got(path);
    expect(whole.status).toBe(200);
    expect(Buffer.from(await whole.arrayBuffer()).equals(make())).toBe(true);
    const facts = await shared.reader.fetch(`${encoded(path)}?metadata=1`);
    expect(facts.status).toBe(200);
    const { thumbnail, title } = (await facts.json()) as Record<string, string | null>;
    if (thumbnail != null) expect(thumbnail).toMatch(/^data:image\/(?:png|jpeg|gif|webp|avif);/);
    expect(title?.length ?? 0).toBeLessThanOrEqual(1000);
    const player = await got(`/ui/media files/${name}`, PAGE);
    expect(player.status).toBe(200);
    expect(actingIn(await player.text())).toEqual([]);
    const cover = await shared.reader.fetch(`${encoded(path)}?thumbnail=1`);
    expect([200, 404]).toContain(cover.status);
    if (cover.status === 200) expect(cover.headers.get('content-type')).toMatch(/^image\/\w+$/);
    expect(facts.headers.get('set-cookie')).toBeNull();
    expect(stateOf(`media files/${name}`)).toBe(placed.get(`media files/${name}`)!);
  });
});

test.each(hostileFiles.map(([name, make, type]) => [name, make, type] as const))(
  '%s is sent as it is, as nothing that acts for its reader',
  async (name, make, type) => {
    const response = await got(`/files/${name}`);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(make())).toBe(true);
    expect(response.headers.get('content-type')).toMatch(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/html|svg|xml/.test(String(type)) ? /^sandbox/ : /default-src|sandbox/);
    expect(policy).not.toContain('allow-same-origin');
    expect(stateOf(`files/${name}`)).toBe(placed.get(`files/${name}`)!);
  },
);

test('all of it is in one gallery and one listing, where it is text', async () => {
  for (const path of ['/', '/ui/media']) {
    expect(actingIn(await (await got(path, PAGE)).text())).toEqual([]);
  }
  const found = await shared.reader.fetch('/search?q=kept', { headers: PAGE });
  expect(found.status).toBe(200);
  expect(actingIn(await found.text())).toEqual([]);
});

test('all of it took little memory, and the rest of the service never noticed (F9)', async () => {
  const { pid } = shared.service;
  expect(memoryOf(pid)!.peak - before).toBeLessThan(128 * MIB);
  for (const child of childrenOf(pid)) {
    expect(memoryOf(child.pid)?.peak ?? 0).toBeLessThan(WORKER_BYTES);
  }
  expect(await (await shared.reader.fetch('/api/good/')).json()).toEqual([{ _row_id: 1, a: 1 }]);
  expect((await got('/good', PAGE)).status).toBe(200);
  expect((await shared.service.fetch('/health')).status).toBe(200);
});
