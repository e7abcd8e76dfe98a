/**
 * Content and media over HTTP: bytes, parts, downloads, policies, rendered documents, metadata (section 19, DS-28, DS-30).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { forgetPeak, memoryOf } from './process-memory.ts';
import { sharedService } from './shared-service.ts';
import { clip, tone } from './media-files.ts';

const LARGE = Buffer.from(
  Uint8Array.from({ length: 1_000_003 }, (_, index) => (index * 7 + (index >> 8)) % 251),
);
const SMALL = 'abcdefghijklmnopqrstuvwxyz';
const PAGE = { Accept: 'text/html' };

const shared = sharedService(
  {
    files: {
      'small.txt': SMALL,
      'large.pdf': LARGE,
      'empty.txt': '',
      'text.txt': 'words of a longer text '.repeat(20_000),
      'latin.html': Buffer.from('<p>caf\xe9</p>', 'latin1'),
      'page.html': '<script>document.title = "ran"</script><p>Hi</p>',
      'draw.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
      'feed.xml': '<feed/>',
      'guide/index.md':
        '# Start\n\n[Other](other.md) ![i](pic.png) [t](data.csv) [f](clip.mp4) [o](https://e.org/) [a](#x)',
      'guide/other.md': '[Back](index.md) [Up](../small.txt)',
      'guide/pic.png': Buffer.from('89504e470d0a1a0a', 'hex'),
      'guide/data.csv': 'n\n1\n',
      'guide/clip.mp4': clip(),
      'site/index.html': '<p>index</p>',
      'site/index.md': '# not this one',
      'both/index.md': '# folder',
      'both.md': '# named',
      'index.md': '# root',
      'media/photo.png': 'photo',
      'api/notes.txt': 'notes in api',
      'tone.mp3': tone(),
      'broken.mp3': 'ID3\x04\0\0\x7f\x7f\x7f\x7f',
      'sub/big.md': '> '.repeat(20_000) + 'x',
    },
  },
  null,
);
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  shared.reader.fetch(path, { method, headers: { 'Accept-Encoding': 'identity', ...headers } });

describe('bytes (DS-157, DS-160)', () => {
  test.each([
    ['/small.txt', Buffer.from(SMALL)],
    ['/large.pdf', LARGE],
    ['/empty.txt', Buffer.alloc(0)],
  ])('%s comes whole, with its length, name and date', async (path, bytes) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    expect(response.headers.get('content-disposition')).toBe(
      `inline; filename*=UTF-8''${path.slice(1)}`,
    );
    expect(Date.parse(response.headers.get('last-modified')!)).toBeGreaterThan(0);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const head = await get(path, { Range: 'bytes=0-1' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expect(head.headers.get('etag')).toBe(response.headers.get('etag'));
  });

  test('?download=true is the original bytes as an attachment, of pages and media too', async () => {
    for (const [path, name] of [
      ['/guide/other?download=true', 'other.md'],
      ['/page?download=true', 'page.html'],
      ['/media/tone?download=true', 'tone.mp3'],
      ['/small?download=1', 'small.txt'],
    ] as const) {
      const response = await get(path);
      expect(response.headers.get('content-disposition')).toBe(
        `attachment; filename="${name}"; filename*=UTF-8''${name}`,
      );
      expect(await response.text()).not.toContain('<!doctype');
    }
  });

  test('a date the client knows is 304, unless it also names a tag (DS-160)', async () => {
    const { headers } = await get('/large.pdf');
    const known = headers.get('last-modified')!;
    expect((await get('/large.pdf', { 'If-Modified-Since': known })).status).toBe(304);
    const earlier = new Date(Date.parse(known) - 60_000).toUTCString();
    expect((await get('/large.pdf', { 'If-Modified-Since': earlier })).status).toBe(200);
    const both = { 'If-Modified-Since': known, 'If-None-Match': '"other"' };
    expect((await get('/large.pdf', both)).status).toBe(200);
  });

  test('text is compressed for those who take it, and its tag says so (DS-19)', async () => {
    for (const path of ['/text.txt', '/small.txt']) {
      const plain = await get(path);
      const response = await get(path, { 'Accept-Encoding': 'gzip' });
      const isLong = path === '/text.txt';
      expect(response.headers.get('content-encoding')).toBe(isLong ? 'gzip' : null);
      expect(await response.text()).toBe(await plain.text());
      const tag = plain.headers.get('etag')!;
      expect(response.headers.get('etag')).toBe(isLong ? tag.replace(/"$/, '-gz"') : tag);
      const again = await get(path, { 'If-None-Match': response.headers.get('etag')! });
      expect(again.status).toBe(304);
      const head = await get(path, { 'Accept-Encoding': 'gzip' }, 'HEAD');
      expect(head.headers.get('etag')).toBe(response.headers.get('etag'));
    }
  });

  test('a text that is not UTF-8 does not claim to be (DS-158)', async () => {
    expect((await get('/latin.html')).headers.get('content-type')).toBe('text/html');
    expect((await get('/page.html')).headers.get('content-type')).toBe('text/html; charset=utf-8');
  });
});

describe('parts (DS-161)', () => {
  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=3-5', 3, 6],
    ['bytes=20-', 20, 26],
    ['bytes=-5', 21, 26],
    ['bytes=-500', 0, 26],
    ['bytes=10-9999', 10, 26],
    ['BYTES = 1-2', 1, 3],
    ['bytes=1-3, 2-5', 1, 6],
  ])('%s is one part', async (range, from, to) => {
    const response = await get('/small.txt', { Range: range });
    expect([response.status, await response.text()]).toEqual([206, SMALL.slice(from, to)]);
    expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/26`);
    expect(response.headers.get('content-length')).toBe(String(to - from));
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('a part of a large file comes from its place, small or large', async () => {
    for (const [from, to] of [
      [5, 9],
      [100, 900_000],
      [999_000, 1_000_003],
    ] as const) {
      const response = await get('/large.pdf', { Range: `bytes=${from}-${to - 1}` });
      expect(response.status).toBe(206);
      expect(response.headers.get('content-length')).toBe(String(to - from));
      expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/1000003`);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(bytes.equals(LARGE.subarray(from, to))).toBe(true);
    }
  });

  test('several parts come as multipart/byteranges, overlapping ones merged', async () => {
    for (const [path, whole, ranges, wanted] of [
      [
        '/small.txt',
        Buffer.from(SMALL),
        'bytes=0-1, 5-7, 6-9, -2',
        [
          [0, 2],
          [5, 10],
          [24, 26],
        ],
      ],
      [
        '/large.pdf',
        LARGE,
        'bytes=0-400000, 600000-',
        [
          [0, 400_001],
          [600_000, 1_000_003],
        ],
      ],
    ] as const) {
      const response = await get(path, { Range: ranges });
      expect(response.status).toBe(206);
      const type = response.headers.get('content-type')!;
      const boundary = /^multipart\/byteranges; boundary=(\w+)$/.exec(type)![1]!;
      const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
      const parts = body.split(`\r\n--${boundary}`).slice(1, -1);
      expect(parts.length).toBe(wanted.length);
      for (const [index, [from, to]] of wanted.entries()) {
        const [head = '', ...rest] = parts[index]!.split('\r\n\r\n');
        expect(head).toContain(`Content-Range: bytes ${from}-${to - 1}/${whole.length}`);
        expect(rest.join('\r\n\r\n') === whole.subarray(from, to).toString('latin1')).toBe(true);
      }
      expect(body.endsWith(`\r\n--${boundary}--\r\n`)).toBe(true);
    }
  });

  test.each(['bytes=26-', 'bytes=100-200', 'bytes=-0', 'bytes=30-40,50-60'])(
    '%s of 26 bytes is 416 with the size',
    async (range) => {
      const response = await get('/small.txt', { Range: range });
      expect([response.status, await response.text()]).toEqual([416, '']);
      expect(response.headers.get('content-range')).toBe('bytes */26');
    },
  );

  test.each([
    'bytes=x-y',
    'bytes=5-2',
    'bytes',
    'lines=1-2',
    'bytes=',
    'bytes=1-2,x',
    `bytes=${Array.from({ length: 33 }, (_, index) => `${index}-${index}`).join(',')}`,
  ])('%s is answered with the whole file', async (range) => {
    for (const path of ['/small.txt', '/large.pdf']) {
      const response = await get(path, { Range: range });
      expect(response.status).toBe(200);
      const size = path === '/small.txt' ? SMALL.length : LARGE.length;
      expect((await response.arrayBuffer()).byteLength).toBe(size);
    }
  });

  test('If-Range keeps a part to its version, by strong tag or date', async () => {
    for (const path of ['/small.txt', '/large.pdf']) {
      const { headers } = await get(path, {}, 'HEAD');
      const etag = headers.get('etag')!;
      const date = headers.get('last-modified')!;
      const later = new Date(Date.parse(date) + 5000).toUTCString();
      for (const [ifRange, status] of [
        [etag, 206],
        [date, 206],
        [later, 200],
        ['"other"', 200],
        [`W/${etag}`, 200],
        [etag.replace(/"$/, '-gz"'), 200],
      ] as const) {
        const response = await get(path, { Range: 'bytes=0-9', 'If-Range': ifRange });
        expect([ifRange, response.status]).toEqual([ifRange, status]);
        const size = Number((await get(path, {}, 'HEAD')).headers.get('content-length'));
        expect((await response.arrayBuffer()).byteLength).toBe(status === 206 ? 10 : size);
      }
    }
  });
});

describe('policies (DS-158, S-X)', () => {
  const SANDBOX =
    "sandbox allow-scripts allow-forms allow-popups; base-uri 'none'; object-src 'none'; frame-ancestors 'none'";

  test('HTML and SVG are sandboxed, whole and in parts', async () => {
    for (const path of ['/page', '/draw', '/page?download=true', '/site', '/latin']) {
      for (const headers of [{}, { Range: 'bytes=0-3' }] as Record<string, string>[]) {
        expect((await get(path, headers)).headers.get('content-security-policy')).toBe(SANDBOX);
      }
    }
  });

  test('XML runs nothing at all; everything else keeps the policy of the site', async () => {
    expect((await get('/feed')).headers.get('content-security-policy')).toStartWith('sandbox;');
    for (const path of ['/small', '/guide/other', '/media/tone']) {
      expect((await get(path)).headers.get('content-security-policy')).toStartWith(
        "default-src 'self'",
      );
    }
  });
});

describe('documents (DS-28, DS-159)', () => {
  test('a Markdown file is a page in the frame, with its outline and its source', async () => {
    const page = await get('/guide', PAGE);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const markup = await page.text();
    expect(markup).toContain('<title>Start · svc</title>');
    expect(markup.match(/<h1/g)).toHaveLength(1);
    const source = await get('/guide?raw=true');
    expect(source.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(await source.text()).toStartWith('# Start');
    const asked = await get('/guide', { Accept: 'text/markdown' });
    expect(await asked.text()).toStartWith('# Start');
  });

  test('links lead to the files beside the document, tables and films to their pages', async () => {
    const fromFolder = await (await get('/guide')).text();
    const fromFile = await (await get('/guide/index')).text();
    const withSlash = await (await get('/guide/')).text();
    for (const markup of [fromFolder, fromFile, withSlash]) {
      expect(markup).toContain('href="/ui/guide/data.csv"');
      expect(markup).toContain('href="/ui/guide/clip.mp4"');
      expect(markup).toContain('href="https://e.org/"');
      expect(markup).toContain('href="#x"');
    }
    expect(fromFolder).toContain('href="/guide/other.md"');
    expect(fromFolder).toContain('src="/guide/pic.png"');
    for (const markup of [fromFile, withSlash]) {
      expect(markup).toContain('href="other.md"');
      expect(markup).toContain('src="pic.png"');
    }
    expect(await (await get('/guide/other/')).text()).toContain('href="/small.txt"');
    for (const path of [
      '/guide/other.md',
      '/guide/pic.png',
      '/ui/guide/data.csv',
      '/ui/guide/clip.mp4',
    ]) {
      expect([path, (await get(path, PAGE)).status]).toEqual([path, 200]);
    }
  });

  test('a folder shows its index, HTML before Markdown, unless a file has its name', async () => {
    expect(await (await get('/site')).text()).toBe('<p>index</p>');
    expect(await (await get('/both')).text()).toContain('<h1 id="named">');
    expect(await (await get('/both/index')).text()).toContain('<h1 id="folder">');
    expect(await (await get('/index')).text()).toContain('<h1 id="root">');
    expect(await (await get('/', PAGE)).text()).toContain('Resources');
    expect((await get('/sub')).status).toBe(404);
  });

  test('a page has a tag for each reader, and a known one is 304', async () => {
    const page = await get('/guide/other');
    const known = { 'If-None-Match': page.headers.get('etag')! };
    expect((await get('/guide/other', known)).status).toBe(304);
    const browser = await shared.service.inBrowserAs('reader');
    const other = await browser.fetch('/guide/other', { headers: known });
    expect(other.status).toBe(200);
  });

  test('a document made to be hard to read is refused and can be downloaded', async () => {
    const page = await get('/sub/big');
    expect(page.status).toBe(413);
    expect((await get('/sub/big?download=true')).status).toBe(200);
    expect((await get('/guide/other')).status).toBe(200);
  });
});

describe('a path below a prefix that names nothing there (DS-30)', () => {
  test('is tried as the path of a file', async () => {
    expect(await (await get('/media/photo.png')).text()).toBe('photo');
    expect(await (await get('/media/photo')).text()).toBe('photo');
    expect(await (await get('/api/notes.txt')).text()).toBe('notes in api');
    expect(await (await get('/api/notes')).text()).toBe('notes in api');
  });

  test('a grant on either name lets know, the refusal names the first', async () => {
    const { service } = shared;
    await service.accounts.grant('first', 'gone.png', 'read');
    await service.accounts.grant('second', 'media/gone.png', 'read');
    for (const user of ['first', 'second']) {
      const response = await (await service.as(user)).fetch('/media/gone.png');
      expect([user, response.status]).toEqual([user, 404]);
    }
    await service.accounts.user('third');
    const refused = await (await service.as('third')).fetch('/media/photo.png');
    expect(await refused.json()).toEqual({ detail: 'Permission denied: read on photo.png' });
  });
});

describe('media (DS-162, DS-184, DS-185)', () => {
  test('tell what they know about themselves', async () => {
    const answer = await get('/media/tone?metadata=1');
    expect(await answer.json()).toEqual({
      resource: 'tone',
      file_name: 'tone.mp3',
      file_size: tone().length,
      media_type: 'audio',
      mime_type: 'audio/mpeg',
      duration: expect.any(Number),
      bitrate: expect.any(Number),
      sample_rate: 44100,
      channels: 1,
      width: null,
      height: null,
      title: '<b>Tone</b>',
      artist: 'Ann',
      album: null,
      genre: null,
      thumbnail: expect.stringMatching(/^data:image\/png;base64,/),
    });
    const known = { 'If-None-Match': answer.headers.get('etag')! };
    expect((await get('/media/tone?metadata=1', known)).status).toBe(304);
    const cover = await get('/media/tone?thumbnail=1');
    expect([cover.status, cover.headers.get('content-type')]).toEqual([200, 'image/png']);
    const film = (await (await get('/media/guide/clip?metadata=1')).json()) as Record<
      string,
      unknown
    >;
    expect(film).toMatchObject({ media_type: 'video', width: 32, height: 16, thumbnail: null });
  });

  test('broken ones are played all the same and know nothing', async () => {
    expect((await get('/media/broken')).status).toBe(200);
    const answer = await get('/media/broken?metadata=1');
    expect(await answer.json()).toMatchObject({
      duration: null,
      title: null,
      mime_type: 'audio/mpeg',
    });
    expect((await get('/media/broken?thumbnail=1')).status).toBe(404);
    expect((await get('/ui/broken', PAGE)).status).toBe(200);
  });

  test('have a player and a gallery, where their tags are text', async () => {
    const player = await (await get('/ui/tone', PAGE)).text();
    expect(player).toContain('<audio');
    expect(player).toContain('src="/media/tone"');
    expect(player).toContain('&lt;b&gt;Tone&lt;/b&gt;');
    expect(await (await get('/ui/guide/clip', PAGE)).text()).toContain('<video');
    const gallery = await (await get('/ui/media', PAGE)).text();
    expect(gallery).toContain('href="/ui/tone"');
    expect(gallery).toContain('src="/media/tone?thumbnail=true"');
    expect(gallery).not.toContain('<b>Tone');
    const filtered = await (await get('/ui/media?filter=clip', PAGE)).text();
    expect(filtered).not.toContain('href="/ui/tone"');
  });

  test('the gallery sends anonymous callers to the login and refuses those without media', async () => {
    const { service, superuser } = shared;
    for (const headers of [{}, PAGE]) {
      const response = await service.fetch('/ui/media', { headers });
      expect([response.status, response.headers.get('location')]).toEqual([
        302,
        '/auth/login?next=/ui/media',
      ]);
    }
    await service.accounts.user('deaf');
    const refused = await (await service.as('deaf')).fetch('/ui/media');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { detail: 'No accessible media resources' },
    ]);
    expect((await superuser.fetch('/ui/media')).status).toBe(200);
    expect(await (await get('/', PAGE)).text()).toContain('href="/ui/media"');
  });
});

describe('files that change, vanish or are none', () => {
  let folder: string;

  beforeAll(() => {
    folder = shared.service.docroot;
  });

  test('a large file passes without being held, for a reader that takes its time', async () => {
    const path = join(folder, 'huge.pdf');
    closeSync(openSync(path, 'w'));
    truncateSync(path, 300_000_000);
    const slow = await eventuallyOk('/huge.pdf');
    const reader = slow.body!.getReader();
    await reader.read();
    forgetPeak(shared.service.pid);
    const before = memoryOf(shared.service.pid)!.resident;
    let bytes = 0;
    const whole = await get('/huge.pdf');
    for await (const chunk of whole.body!) bytes += chunk.length;
    expect(bytes).toBe(300_000_000);
    expect(memoryOf(shared.service.pid)!.peak - before).toBeLessThan(64 * 1024 * 1024);
    await reader.cancel();
  });

  test('a file replaced while it is sent goes on as it was', async () => {
    const path = join(folder, 'swap.pdf');
    const old = Buffer.alloc(30_000_000, 'o');
    shared.service.write('swap.pdf', old);
    const response = await eventuallyOk('/swap.pdf');
    const reader = response.body!.getReader();
    const first = await reader.read();
    shared.service.write('swap.new', Buffer.alloc(30_000_000, 'n'));
    renameSync(join(folder, 'swap.new'), path);
    let bytes = first.value!.length;
    let isOld = true;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.length;
      isOld &&= next.value[0] === 0x6f && next.value.at(-1) === 0x6f;
    }
    expect([bytes, isOld]).toEqual([old.length, true]);
  });

  test('links that lead out, folders, pipes and devices are not there (DS-24, S-P)', async () => {
    symlinkSync('/etc/passwd', join(folder, 'out.txt'));
    symlinkSync('/dev/zero', join(folder, 'zero.txt'));
    symlinkSync('small.txt', join(folder, 'inside.txt'));
    mkdirSync(join(folder, 'folder.txt'));
    spawnSync('mkfifo', [join(folder, 'pipe.txt')]);
    await eventuallyOk('/inside.txt');
    for (const path of ['/out.txt', '/zero.txt', '/folder.txt', '/pipe.txt']) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  test('a change that keeps size and time is another version', async () => {
    const path = join(folder, 'same.txt');
    shared.service.write('same.txt', 'aaaa');
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const first = await eventuallyOk('/same.txt');
    await Bun.sleep(20);
    shared.service.write('same.txt', 'bbbb');
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    const second = await get('/same.txt', { 'If-None-Match': first.headers.get('etag')! });
    expect([second.status, await second.text()]).toEqual([200, 'bbbb']);
  });

  async function eventuallyOk(path: string): Promise<Response> {
    for (;;) {
      const response = await get(path);
      if (response.status === 200) return response;
      await Bun.sleep(10);
    }
  }
});

test('pictures that browsers do not show are downloads, with their size in pixels (DS-157, DS-162)', async () => {
  const tiff = Buffer.concat([
    Buffer.from('II*\0\x08\0\0\0\x02\0', 'latin1'),
    Buffer.from('000103000100000040010000', 'hex'),
    Buffer.from('0101040001000000f0000000', 'hex'),
    Buffer.alloc(4),
  ]);
  shared.service.write('scan.tif', tiff);
  shared.service.write('phone.heic', 'no picture');
  await eventually(async () => expect((await get('/phone')).status).toBe(200));
  const response = await get('/scan');
  expect(response.headers.get('content-type')).toBe('image/tiff');
  expect(response.headers.get('content-disposition')).toStartWith(
    'attachment; filename="scan.tif"',
  );
  expect(Buffer.from(await response.arrayBuffer()).equals(tiff)).toBe(true);
  const facts = {
    resource: 'scan',
    file_name: 'scan.tif',
    file_size: tiff.length,
    media_type: 'image',
  };
  expect(await (await get('/scan?metadata=1')).json()).toEqual({
    ...facts,
    ...{ mime_type: 'image/tiff', width: 320, height: 240 },
  });
  expect(await (await get('/phone?metadata=1')).json()).toMatchObject({
    width: null,
    height: null,
  });
});
