/**
 * The chapters under docs/ as the executable serves them at `/docs/guide`: rendered once, while it is built.
 *
 * The order is that of the links in docs/README.md, the index. Links between chapters are relative, so that they work where the
 * Markdown is read as files too; here they become addresses of the server. `bun build/guide.ts` prints the result as JSON.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderMarkdown } from '../plugins/markdown/render.ts';
import { markdownSections } from '../plugins/markdown/kind.ts';
import type { FileSource } from '../src/base/files/file-source.ts';
import type { GuideChapter } from '../src/pages/docs/guide-text.ts';
import { bundledChapterNames } from '../src/pages/docs/guide-bundle.ts';
import { root } from './step.ts';

/** The folder with the chapters. */
const docsFolder = join(root, 'docs');

const INDEX = 'README';
/** Pages of the server that chapters name as code; read there, they are links. */
const PAGES = [
  '/docs',
  '/docs/search-language',
  '/events',
  '/profile',
  '/search',
  '/savedsearches',
];
const ADMIN_PAGES = /^\/admin\/(?:ui\/[a-z-]+)?$/;

/** Every chapter, the index first. Takes about 300 ms. */
export async function guideChapters(): Promise<GuideChapter[]> {
  const chapters: GuideChapter[] = [];
  const names = bundledChapterNames().split(' ');
  for (const name of [INDEX, ...names]) chapters.push(await chapterOf(name));
  return chapters;
}

async function chapterOf(name: string): Promise<GuideChapter> {
  const rel = `${name}.md`;
  const source = sourceOfBytes(readFileSync(join(docsFolder, rel)));
  const order = { rel, maxBytes: source.size + 1 };
  const { title, body, outline } = await renderMarkdown(source, order);
  if (title === null) throw new Error(`docs/${rel} has no title`);
  return {
    name: name === INDEX ? '' : name,
    title,
    body: withServerLinks(body, rel),
    outline,
    sections: await markdownSections(source, order),
  };
}

function sourceOfBytes(bytes: Uint8Array): FileSource {
  return {
    size: bytes.byteLength,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  };
}

function withServerLinks(body: string, rel: string): string {
  const linked = body.replace(/ href="([^"]+)"/g, (whole, href: string) => {
    if (/^(?:https?:|mailto:|#)/.test(href)) return whole;
    const [, name, fragment = ''] = /^([A-Za-z-]+)\.md(#.*)?$/.exec(href) ?? [];
    if (name === undefined) throw new Error(`docs/${rel}: a link to ${href} leads nowhere`);
    return ` href="/docs/guide${name === INDEX ? '' : `/${name}`}${fragment}"`;
  });
  // What scrolls sideways has to be reachable without a mouse.
  const reachable = linked.replace(/<(pre|table)>/g, '<$1 tabindex="0">');
  return reachable.replace(/(?<!<pre[^>]*>)<code>(\/[a-z/-]*)<\/code>/g, (whole, path: string) =>
    PAGES.includes(path) || ADMIN_PAGES.test(path) ? `<a href="${path}">${whole}</a>` : whole,
  );
}

if (import.meta.main) console.log(JSON.stringify(await guideChapters()));
