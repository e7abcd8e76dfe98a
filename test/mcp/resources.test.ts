/**
 * Resources by address: pages, templates, reading (DS-176).
 */
import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../http/eventually.ts';
import { sharedService } from '../http/shared-service.ts';
import { startService } from '../support/service.ts';
import { type Answer, ask, post, request } from './messages.ts';

const ROWS = Array.from({ length: 150 }, (_, n) => String(n)).join('\n');
const PIXELS = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]);

const shared = sharedService({
  files: {
    'many.csv': `n\n${ROWS}\n`,
    'deep/er/odd %2F name+?#.txt': 'odd',
    'page.html': '<p>page</p>',
    'notes.md': '# Notes\n',
    'wall.dashboard.yaml': 'title: Wall # here\nrows: []\n',
    'dot.png': PIXELS,
    'hello.ts': `import { Elysia } from 'elysia';\nexport const router = new Elysia().get('/', () => 'hi');\n`,
  },
});

interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly mimeType: string;
  readonly annotations: object;
}

const page = async (cursor?: string) =>
  (await ask(shared.reader, 'resources/list', cursor === undefined ? {} : { cursor })) as {
    resources: Listed[];
    nextCursor?: string;
  };
const read = async (uri: string) =>
  (
    (await ask(shared.reader, 'resources/read', { uri }))['contents'] as Record<string, string>[]
  )[0]!;

describe('resources/list', () => {
  test('names every readable resource, each with an address that reads it', async () => {
    const { resources, nextCursor } = await page();
    expect(nextCursor).toBeUndefined();
    expect(resources.map(({ uri, name, title, mimeType }) => [uri, name, title, mimeType])).toEqual(
      [
        [
          'svc:///deep/er/odd%20%252F%20name%2B%3F%23',
          'deep/er/odd %2F name+?#',
          'deep/er/odd %2F name+?#.txt',
          'text/plain',
        ],
        ['svc:///dot', 'dot', 'dot.png', 'image/png'],
        ['svc:///hello', 'hello', 'hello.ts', expect.any(String)],
        ['svc:///many', 'many', 'many.csv', 'application/json'],
        ['svc:///notes', 'notes', 'notes.md', 'text/html'],
        ['svc:///page', 'page', 'page.html', 'text/html'],
        ['svc:///wall', 'wall', 'wall.dashboard.yaml', 'application/yaml'],
      ],
    );
    for (const { uri, mimeType, name, annotations } of resources) {
      expect(annotations).toMatchObject({ lastModified: expect.stringMatching(/^20.+Z$/) });
      if (name === 'hello') continue;
      expect(await read(uri)).toMatchObject({ uri, mimeType });
    }
  });

  test('comes in pages of 100 that neither skip nor repeat, also when files go away', async () => {
    const names = Array.from({ length: 250 }, (_, n) => `f${String(n).padStart(3, '0')}`);
    await using svc = await startService({
      files: Object.fromEntries(names.map((name) => [`${name}.txt`, 'x'])),
    });
    await svc.createSuperuser('root');
    const root = await svc.as('root');
    const listed = async (cursor?: unknown) => {
      const params = cursor === undefined ? {} : { cursor };
      const { resources, nextCursor } = await ask(root, 'resources/list', params);
      return { names: (resources as Listed[]).map(({ name }) => name), nextCursor };
    };
    const first = await listed();
    expect(first.names).toEqual(names.slice(0, 100));
    rmSync(join(svc.docroot, 'f099.txt'));
    await eventually(async () => expect((await listed()).names).not.toContain('f099'));
    const second = await listed(first.nextCursor);
    expect(second.names).toEqual(names.slice(100, 200));
    const third = await listed(second.nextCursor);
    expect(third.names).toEqual(names.slice(200));
    expect(third.nextCursor).toBeUndefined();
  });
});

describe('resources/read', () => {
  test('gives the first 100 rows of a dataset as JSON', async () => {
    const { text, mimeType } = await read('svc:///many');
    expect(mimeType).toBe('application/json');
    const { rows, count, total } = JSON.parse(text!) as {
      rows: object[];
      count: number;
      total: number;
    };
    expect([rows.length, count, total, rows[99]]).toEqual([100, 100, 150, { _row_id: 100, n: 99 }]);
  });

  test('gives text as text and bytes as bytes', async () => {
    expect(await read('svc:///page.html')).toEqual({
      uri: 'svc:///page.html',
      mimeType: 'text/html',
      text: '<p>page</p>',
    });
    const { blob } = await read('svc:///dot');
    expect(new Uint8Array(Buffer.from(blob!, 'base64'))).toEqual(PIXELS);
  });

  test('takes addresses as templates write them, and refuses all others', async () => {
    expect((await read('svc:///deep%2Fer%2Fodd%20%252F%20name%2B%3F%23'))['text']).toBe('odd');
    const refused = async (uri: string) => {
      const body = request('resources/read', { uri });
      const answer = (await (await post(shared.superuser, body)).json()) as Answer;
      return [answer.error?.code, answer.error?.message];
    };
    expect(await refused('svc:///nothing')).toEqual([-32602, "Unknown resource: 'nothing'"]);
    expect(await refused('svc:///../many')).toEqual([-32602, "Unknown resource: '../many'"]);
    expect(await refused('svc:///hello')).toEqual([
      -32602,
      "Resource type 'handler' cannot be read",
    ]);
    for (const uri of ['svc://many', 'file:///etc/passwd', 'http://x/', 'svc:///%ff', '']) {
      expect(await refused(uri)).toEqual([-32602, `Unknown resource: '${uri}'`]);
    }
  });

  test('of a file over the limit is an error', async () => {
    await using svc = await startService({
      files: {
        'large.png': new Uint8Array(5000).fill(0),
        'large.txt': 'x'.repeat(5000),
        'small.txt': 'x',
      },
      config: { limits: { mcp_result_bytes: 4096 } },
    });
    await svc.createSuperuser('root');
    const root = await svc.as('root');
    for (const name of ['large.png', 'large.txt']) {
      const response = await post(root, request('resources/read', { uri: `svc:///${name}` }));
      const { error } = (await response.json()) as Answer;
      expect(error?.message).toBe('Result too large: 5000 bytes; download the file instead');
    }
    expect(await ask(root, 'resources/read', { uri: 'svc:///small.txt' })).toHaveProperty(
      'contents',
    );
  });
});
