/**
 * Hostile documents in a real browser (S-X): nothing in HTML, SVG, XML or Markdown acts for the reader, and the pages that
 * show documents and media work in light, dark and narrow windows, without script.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { clip, tone } from '../http/media-files.ts';
import { TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const SCRIPT = `
  window.ran = true;
  try { parent.document.title = 'ran'; } catch (error) {}
  let cookie = 'unreadable';
  try { cookie = document.cookie; } catch (error) {}
  let stored = 'unreadable';
  try { stored = String(localStorage.length); } catch (error) {}
  fetch('/api/secret/', { credentials: 'include' })
    .then((answer) => answer.text())
    .then((text) => { document.title = 'read ' + text; }, () => { document.title = 'refused'; })
    .finally(() => { document.title += ' ' + origin + ' ' + cookie + ' ' + stored; });`;

const HOSTILE_MARKDOWN = `# Title

<script>document.title = 'ran'</script>
<img src=x onerror="document.title='ran'">
<svg onload="document.title='ran'"><foreignObject><script>document.title='ran'</script></foreignObject></svg>
<math><mtext><table><mglyph><style><img src=x onerror="document.title='ran'"></style></mglyph></table></mtext></math>
<noscript><p title="</noscript><img src=x onerror=document.title='ran'>"></noscript>
<iframe srcdoc="<script>parent.document.title='ran'</script>"></iframe>
<base href="https://evil.invalid/"><meta http-equiv="refresh" content="0;url=https://evil.invalid/">
<style>body{display:none} @import url(https://evil.invalid/x.css);</style>
<form action="https://evil.invalid/"><input name="q" autofocus onfocus="document.title='ran'"><button>Go</button></form>
<a href="javascript:document.title='ran'" id="js">one</a> [two](javascript:document.title='ran')
[three](data:text/html,<script>alert(1)</script>) <a href="&#106;avascript:document.title='ran'">four</a>
<details open ontoggle="document.title='ran'"><summary>s</summary></details>
<div style="position:fixed;inset:0">cover</div> ![far](https://evil.invalid/pixel.png)

\`\`\`html
<script>document.title = 'ran'</script>
\`\`\`
`;

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'secret.csv': 'n\nthe secret\n',
      'evil.html': `<!doctype html><title>page</title><script>${SCRIPT}</script>`,
      'evil.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><title>draw</title><script>${SCRIPT}</script></svg>`,
      'evil.xml': `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>xml</title></head><body><script>${SCRIPT}</script></body></html>`,
      'evil.md': HOSTILE_MARKDOWN,
      'shown.md': '# Shown\n\n![drawing](evil.svg)\n\n## Part\n\n## Part\n\n- [x] done\n',
      'polyglot.txt': '<script>document.title = "ran"</script>',
      '<img src=x onerror=alert(1)>.mp3': tone(),
      'clip.mp4': clip(),
    },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** A window in which ada is signed in. */
async function openedAs(options: Parameters<TestBrowser['open']>[1]): Promise<Page> {
  const page = await browser.open(svc, options);
  const { cookie } = await svc.accounts.session('ada');
  const pairs = cookie.split('; ').map((pair) => {
    const equals = pair.indexOf('=');
    return { name: pair.slice(0, equals), value: pair.slice(equals + 1), url: svc.url };
  });
  await page.context().addCookies(pairs);
  return page;
}

async function opened(path: string): Promise<Page> {
  const page = await openedAs({});
  await page.goto(path);
  return page;
}

/** What the browser makes of a document; text, because the checks know no browser's types. */
const READ_ARTICLE = `(() => {
  const all = [...document.querySelectorAll('article *')];
  return {
    elements: all.map((one) => one.localName),
    attributes: all.flatMap((one) => [...one.attributes].map(({ name }) => name)),
    links: all.filter((one) => one.localName === 'a').map((one) => one.href),
    base: document.baseURI,
  };
})()`;

interface ArticleFacts {
  readonly elements: readonly string[];
  readonly attributes: readonly string[];
  readonly links: readonly string[];
  readonly base: string;
}

test.each(['/evil.html', '/evil.svg'])(
  '%s runs apart from the site and reads nothing',
  async (path) => {
    const page = await opened(path);
    await soon(() => page.title()).toBe('refused null unreadable unreadable');
    await page.context().close();
  },
);

test('XML and text run nothing', async () => {
  for (const [path, title] of [
    ['/evil.xml', 'xml'],
    ['/polyglot', ''],
  ] as const) {
    const page = await opened(path);
    await soon(() => page.title()).toBe(title);
    await page.context().close();
  }
});

test('hostile Markdown is a page of text', async () => {
  const page = await opened('/evil.md');
  expect(await page.title()).toBe('Title · svc');
  const found = (await page.evaluate(READ_ARTICLE)) as ArticleFacts;
  const forbidden = /^(?:script|style|iframe|object|embed|form|button|svg|math|base|meta|link)$/;
  expect(found.elements.filter((name) => forbidden.test(name))).toEqual([]);
  expect(found.attributes.filter((name) => /^on|^style$|^srcdoc$/.test(name))).toEqual([]);
  expect(found.links.filter((href) => /^(?:javascript|data):/.test(href))).toEqual([]);
  expect(found.base).toBe(`${svc.url}/evil.md`);
  for (const link of await page.locator('article a').all()) {
    if ((await link.getAttribute('href')) === null) await link.click();
  }
  await soon(() => page.title()).toBe('Title · svc');
  await page.context().close();
});

test('a drawing in a document is shown and runs nothing; headings are reached by their links', async () => {
  const page = await opened('/shown');
  const drawn = "document.querySelector('article img').naturalWidth > 0";
  await soon(() => page.evaluate<boolean>(drawn)).toBe(true);
  await soon(() => page.title()).toBe('Shown · svc');
  await page.getByRole('link', { name: 'Part' }).nth(1).click();
  await soon(() => page.url()).toBe(`${svc.url}/shown#part-1`);
  await page.context().close();
});

for (const [look, options] of [
  ['light', { colorScheme: 'light', viewport: { width: 1200, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1200, height: 800 } }],
  [
    'narrow and without JavaScript',
    { javaScriptEnabled: false, viewport: { width: 320, height: 700 } },
  ],
] as const) {
  test(`documents, players and the gallery fit a window that is ${look}`, async () => {
    const page = await openedAs(options);
    for (const [path, text] of [
      ['/shown', 'Shown'],
      ['/ui/media', 'Media'],
      ['/ui/clip', 'clip.mp4'],
      [`/ui/${encodeURIComponent('<img src=x onerror=alert(1)>')}`, '<b>Tone</b>'],
    ] as const) {
      await page.goto(path);
      await soon(() => page.locator('h1').innerText()).toBe(text);
      if (options.viewport.width === 320) {
        const box = await page.locator('main').boundingBox();
        expect(box!.x + box!.width).toBeLessThanOrEqual(320);
      }
    }
    await page.context().close();
  });
}

test('nothing was asked of another server, and nothing ran in a page of the site', () => {
  expect(browser.foreignRequests).toEqual([]);
  // The sandbox refuses the scripts of the hostile pages aloud, which is as it should be.
  const expected = /sandbox|opaque|null|CORS|ERR_FAILED|404 \(Not Found\)|401|Failed to load/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
});
