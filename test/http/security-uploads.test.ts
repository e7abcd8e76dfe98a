/**
 * What uploads can make of the document root (S-U) as a table: nobody, not even a superuser, makes a handler of an upload, and
 * what is stored runs nowhere.
 */
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zip } from '../plugins/workbook-files.ts';
import { eventually } from './eventually.ts';
import { securityCases, type SecurityActor, type SecurityCase } from './security-cases.ts';
import { BOUNDARY, field, file, formOf, upload } from './upload-form.ts';

const SCRIPT = '<script>RAN()</script>';
const CODE = "import { Elysia } from 'elysia';\nexport const router = new Elysia();\n";
const HEADERS = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
/** Spoken by no refusal: where things are, and that they are there. */
const NOTHING_ELSE = [/of-alice/, /\/docroot/, /upload_owner/];

const put = (
  id: string,
  name: string,
  actor: SecurityActor,
  status: number,
  more: Partial<SecurityCase> = {},
  content = CODE,
): SecurityCase => ({
  id,
  what: JSON.stringify(name),
  actor,
  request: {
    method: 'POST',
    path: '/api/uploads',
    headers: HEADERS,
    body: formOf([field('filename', name), file(content)]).toString(),
  },
  status,
  mustNot: NOTHING_ELSE,
  ...more,
});

const isCode = { must: [/File extension '\..+' is not allowed/] };
const isTaken = { must: ['Filename is not allowed'] };
const isNoName = { must: ['Filename must be a basename without path separators'] };

const codeCases = ['ts', 'js', 'mjs', 'cjs', 'tsx', 'jsx', 'wasm', 'node', 'py', 'sh'].flatMap(
  (extension) => [
    put('S-U1', `h.${extension}`, 'adm', 400, isCode),
    put('S-U1', `h.${extension}`, 'alice', 403),
  ],
);

const disguises: readonly SecurityCase[] = [
  ...[
    'h.TS',
    'h.Ts ',
    ' h.ts',
    'h.csv.ts',
    'h.ts::$DATA',
    'h.ts:x.csv',
    'h.\uff54s',
    'h.t\u200bs',
  ].map((name) => put('S-U2', name, 'adm', 400, isCode)),
  put('S-U2', 'h.ts.', 'adm', 400),
  put('S-U2', 'h.ts\u0000.csv', 'adm', 400, isNoName),
  {
    ...put('S-U2', 'h.ts', 'adm', 400, isCode),
    what: 'a type that lies',
    request: {
      method: 'POST',
      path: '/api/uploads',
      headers: HEADERS,
      body: formOf([field('filename', 'h.ts'), file(CODE, 'text/csv')]).toString(),
    },
  },
];

const reserved = [
  ...['bunfig.toml', 'BUNFIG.TOML', 'package.json', 'tsconfig.json', 'node_modules', '.env'],
  ...['.env.local', '.svc', '.htaccess', '_svc', '.a.csv.0123456789abcdef.tmp'],
].map((name) => put('S-U3', name, 'adm', 400, isTaken));
const elsewhere = [
  'node_modules/x.js',
  '../h.csv',
  '..\\h.csv',
  '/etc/h.csv',
  '.svc/a.schema.json',
].map((name) => put('S-U3', name, 'adm', 400, isNoName));

/** Ways by which other servers let a stored file become another. */
const changes = (
  [
    ['MOVE', '/a.csv', 405, { Destination: '/h.ts' }],
    ['COPY', '/a.csv', 405, { Destination: '/h.ts' }],
    ['MOVE', '/api/a/', 405, { Destination: '/api/h/' }],
    ['PUT', '/api/a/', 405, {}],
    ['PUT', '/page.txt', 405, {}],
    ['PUT', '/h.ts', 404, {}],
    ['PUT', '/api/h/', 404, {}],
    ['PATCH', '/run.ts', 404, {}],
    ['DELETE', '/run.ts', 404, {}],
    ['PUT', '/api/uploads', 405, {}],
    ['PATCH', '/api/uploads', 405, {}],
    ['POST', '/page.txt', 405, { 'X-HTTP-Method-Override': 'PUT' }],
  ] as const
).map(([method, path, status, headers]): SecurityCase => ({
  id: 'S-U4',
  what: `${method} ${path}`,
  actor: 'adm',
  request: { method, path, headers, body: CODE },
  status,
  mustNot: NOTHING_ELSE,
}));

const fixture = securityCases(
  {
    files: {
      'a.csv': 'n,secret\n1,of-alice\n',
      'b.csv': 'n\n1\n',
      'page.txt': 'x',
      'run.ts': CODE,
    },
    config: { upload: { enabled: true, max_size_bytes: 1024 * 1024 } },
  },
  [
    ...codeCases,
    ...disguises,
    ...reserved,
    ...elsewhere,
    ...changes,
    put('S-U4', 'run.ts', 'adm', 400, isCode),
    put('S-U7', 'new.csv', 'anon', 401),
    put('S-U7', 'a.csv', 'alice', 403),
    put('S-U7', 'b.csv', 'bob', 403),
    put('S-U8', 'large.txt', 'adm', 413, {}, 'x'.repeat(1024 * 1024 + 1)),
  ],
);

describe('what is stored', () => {
  const client = () => fixture.service.as('adm');

  test('of an archive is the archive: nothing is taken out of it (S-U5)', async () => {
    const entries = ['../h.ts', '/etc/h.ts', 'h.ts', '.svc/h.ts', 'x/../../h.ts'];
    const archive = zip(entries.map((name) => ({ name, data: CODE })));
    const adm = await client();
    expect((await upload(adm, 'evil.zip', archive)).status).toBe(201);
    expect((await upload(adm, 'evil.xlsx', archive)).status).toBe(201);
    const rows = await adm.fetch('/api/evil/');
    expect([400, 404, 422]).toContain(rows.status);
    expect(await rows.text()).not.toContain('Elysia');
    const names = readdirSync(fixture.service.docroot, { recursive: true }) as string[];
    expect(names.filter((name) => name.endsWith('.ts'))).toEqual(['run.ts']);
    expect(readdirSync(join(fixture.service.docroot, '..'))).not.toContain('h.ts');
  });

  test.each([
    ['page.html', SCRIPT],
    ['page.svg', `<svg xmlns="http://www.w3.org/2000/svg" onload="RAN()">${SCRIPT}</svg>`],
    ['page.xml', `<html xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</html>`],
    ['page.xhtml', `<html xmlns="http://www.w3.org/1999/xhtml">${SCRIPT}</html>`],
    ['page.mathml', `<math xmlns="http://www.w3.org/1998/Math/MathML">${SCRIPT}</math>`],
    ['page.md', `# Title\n\n${SCRIPT}<img src=x onerror=RAN()>\n`],
    ['text.txt', SCRIPT],
    ['page.csv', `n\n${SCRIPT}\n`],
  ])('as %s acts for nobody who opens it (S-U6, S-X1 to S-X4)', async (name, content) => {
    const adm = await client();
    expect((await upload(adm, name, content)).status).toBe(201);
    for (const path of [`/${name}`, `/${name}?download=true`, `/ui/${name}`, `/media/${name}`]) {
      const answer = await adm.fetch(path, { headers: { Accept: 'text/html' } });
      const text = await answer.text();
      const type = answer.headers.get('content-type') ?? '';
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const isOurs = policy.includes("script-src 'self'") || !policy.includes('sandbox');
      // A page of ours holds none of it as markup; a page of theirs has an origin of its own.
      if (/html|xml|svg/.test(type) && isOurs)
        expect(text).not.toMatch(/<script>RAN|onerror=RAN|onload="RAN/);
      expect(policy).not.toContain('allow-same-origin');
      expect(policy).not.toContain("'unsafe-inline'; script");
    }
  });

  test('has no name before all of it is there, and none of a body that breaks off (S-U9)', async () => {
    const adm = await client();
    const whole = formOf([field('filename', 'half.txt'), file('x'.repeat(100_000))]);
    const half = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new Uint8Array(whole.subarray(0, 60_000)));
        await Bun.sleep(200);
        expect(readdirSync(fixture.service.docroot)).not.toContain('half.txt');
        controller.close();
      },
    });
    const answer = await adm.fetch('/api/uploads', {
      method: 'POST',
      headers: HEADERS,
      body: half,
    });
    expect(answer.status).toBe(400);
    await answer.body?.cancel();
    await eventually(() =>
      expect(
        readdirSync(fixture.service.docroot).filter((name) => /half|\.tmp$/.test(name)),
      ).toEqual([]),
    );
  });

  test('left the handler as it was (S-U4)', () => {
    expect(readFileSync(join(fixture.service.docroot, 'run.ts'), 'utf8')).toBe(CODE);
  });
});
