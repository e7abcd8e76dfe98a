/**
 * Handler files that appear, change and go while the server runs (DS-172), and what the executable brings for them (DS-164).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually, PICK_UP_MS } from './eventually.ts';
import { handlerPython, hasPythonHandlers } from './handler-files.ts';

let svc: Service;
let boss: Client;

beforeAll(async () => {
  svc = await startService({ files: { 'rows.csv': 'a\n1\n' } });
  await svc.accounts.user('boss', { superuser: true });
  boss = await svc.as('boss');
});

afterAll(() => svc?.[Symbol.asyncDispose]());

const script = (answer: string, more = ''): string =>
  `import { Elysia } from 'elysia';\n${more}\nexport const router = new Elysia().get('/', () => ${answer});\n`;
const python = (answer: string, more = ''): string =>
  `from fastapi import APIRouter\n${more}\nrouter = APIRouter()\n@router.get("/")\ndef root():\n    return ${answer}\n`;

async function answers(path: string, text: string, limitMs = PICK_UP_MS): Promise<void> {
  await eventually(async () => {
    const response = await boss.fetch(path);
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text });
  }, limitMs);
}

async function isGone(path: string): Promise<void> {
  await eventually(async () => {
    expect((await boss.fetch(path)).status).toBe(404);
  }, PICK_UP_MS);
}

test('a script appears, changes, breaks, is mended and goes, within a second each (DS-172)', async () => {
  svc.write('s.ts', script('"one"'));
  // The first one also starts the process.
  await answers('/api/s', 'one', 10_000);
  svc.write('s.ts', script('"two"'));
  await answers('/api/s', 'two');
  svc.write('s.ts', 'export const router = (');
  await eventually(async () => {
    const response = await boss.fetch('/api/s');
    expect(response.status).toBe(503);
    const { detail } = (await response.json()) as { detail: string };
    expect(detail).toStartWith('Handler unavailable: s.ts:1:');
  }, PICK_UP_MS);
  svc.write('s.ts', script('"three"'));
  await answers('/api/s', 'three');
  svc.write('s.ts', 'export const other = 1;');
  await isGone('/api/s');
  svc.write('s.ts', script('"four"'));
  await answers('/api/s', 'four');
  unlinkSync(join(svc.docroot, 's.ts'));
  await isGone('/api/s');
});

test('a change of a module or a file it imports takes effect, also when it was missing (DS-172)', async () => {
  const imports = `import { word } from './lib/words';\nimport data from './lib/data.json';`;
  svc.write('m.ts', script('word + data.n', imports));
  await eventually(async () => {
    expect((await boss.fetch('/api/m')).status).toBe(503);
  }, 10_000);
  svc.write('lib/data.json', '{"n": 1}');
  svc.write('lib/words.ts', 'export const word: string = "a";');
  await answers('/api/m', 'a1');
  svc.write('lib/words.ts', 'export const word: string = "b";');
  await answers('/api/m', 'b1');
  svc.write('lib/data.json', '{"n": 2}');
  await answers('/api/m', 'b2');
});

test('requests in progress finish on the old code (DS-172)', async () => {
  using folder = temporaryFolder();
  const slow = `
    import { existsSync, writeFileSync } from 'node:fs';
    async function answer(): Promise<string> {
      if (existsSync('${folder.at('begun')}')) return 'not the first';
      writeFileSync('${folder.at('begun')}', '');
      while (!existsSync('${folder.at('go on')}')) await Bun.sleep(10);
      return 'old';
    }`;
  svc.write('slow.ts', script('answer()', slow));
  const hasBegun = () => existsSync(folder.at('begun'));
  let before = Promise.resolve('');
  await eventually(async () => {
    let isAnswered = false;
    before = boss.fetch('/api/slow').then((response) => response.text());
    void before.finally(() => (isAnswered = true));
    while (!hasBegun() && !isAnswered) await Bun.sleep(10);
    expect(hasBegun()).toBe(true);
  });
  svc.write('slow.ts', script('"new"'));
  await answers('/api/slow', 'new', 2 * PICK_UP_MS);
  folder.write('go on', '');
  expect(await before).toBe('old');
});

test('a route that says nothing for longer than an idle connection may live is called once, and answers (DS-170)', async () => {
  using folder = temporaryFolder();
  const takesLong = `
    import { appendFileSync } from 'node:fs';
    async function answer(): Promise<string> {
      appendFileSync('${folder.at('calls')}', 'called ');
      await Bun.sleep(14_000);
      return 'done';
    }`;
  svc.write('long.ts', script('answer()', takesLong));
  await answers('/api/long', 'done');
  expect(readFileSync(folder.at('calls'), 'utf8')).toBe('called ');
});

test('a module that never finishes loading is given up; others work (DS-171)', async () => {
  svc.write('good.ts', script('"good"'));
  svc.write('exits.ts', script('1', 'process.exit(1);'));
  await eventually(async () => {
    const response = await boss.fetch('/api/exits');
    expect(((await response.json()) as { detail: string }).detail).toContain(
      'ended while it was loaded',
    );
  }, 20_000);
  await answers('/api/good', 'good', 10_000);
  svc.write('loops.ts', script('1', 'for (;;);'));
  await eventually(async () => {
    const response = await boss.fetch('/api/loops');
    expect(((await response.json()) as { detail: string }).detail).toContain('did not answer');
  }, 30_000);
  await answers('/api/good', 'good', 10_000);
  for (const file of ['exits.ts', 'loops.ts']) unlinkSync(join(svc.docroot, file));
});

test('elysia and typebox are inside; packages beside the handler are found, but for a second elysia (DS-164)', async () => {
  const entry = (name: string): string =>
    JSON.stringify({ name, type: 'module', exports: './dist/x.js' });
  svc.write('node_modules/left/package.json', entry('left'));
  svc.write('node_modules/left/dist/x.js', 'export const left = "left";');
  svc.write('node_modules/elysia/package.json', entry('elysia'));
  svc.write('node_modules/elysia/dist/x.js', 'export class Elysia { get() { return this; } }');
  const imports = `import { t } from 'elysia';\nimport { Type } from '@sinclair/typebox';\nimport { left } from 'left';`;
  svc.write('packages.mjs', script('left + typeof Type.String + typeof t.Object', imports));
  await answers('/api/packages', 'leftfunctionfunction', 10_000);
});

test.if(hasPythonHandlers())(
  'a Python handler appears, changes with what it imports, and goes (DS-172)',
  async () => {
    svc.write('helper.py', 'word = "one"\n');
    svc.write('p/h.py', python('helper.word', 'import helper'));
    await answers('/api/p/h', '"one"', 20_000);
    svc.write('helper.py', 'word = "two!"\n');
    await answers('/api/p/h', '"two!"');
    svc.write('p/h.py', python('1 +', 'import helper'));
    await eventually(async () => {
      const response = await boss.fetch('/api/p/h');
      const { detail } = (await response.json()) as { detail: string };
      expect(detail).toStartWith('Handler unavailable: p/h.py:6: SyntaxError');
    }, PICK_UP_MS);
    unlinkSync(join(svc.docroot, 'p/h.py'));
    await isGone('/api/p/h');
  },
);

test('without Python its handlers are listed with the problem, and unavailable (DS-165)', async () => {
  await using bare = await startService({
    files: { 'h.py': python('1') },
    env: { PATH: '/nowhere' },
  });
  await bare.accounts.user('boss', { superuser: true });
  const client = await bare.as('boss');
  await eventually(async () => {
    const { problems } = (await (await client.fetch('/')).json()) as { problems: object[] };
    expect(problems).toEqual([
      { resource: 'h.py', problem: 'python3 with fastapi and uvicorn not found' },
    ]);
  });
  const response = await client.fetch('/api/h/');
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    detail: 'Handler unavailable: python3 with fastapi and uvicorn not found',
  });
});

test.if(hasPythonHandlers())(
  'handlers.python names what runs them: a virtual environment too',
  async () => {
    using folder = temporaryFolder({});
    const venv = folder.at('venv');
    const arguments_ = ['-m', 'venv', '--without-pip', '--system-site-packages', venv];
    expect(Bun.spawnSync([handlerPython()!, ...arguments_]).exitCode).toBe(0);
    const [site] = new Bun.Glob('lib/python*/site-packages').scanSync({
      cwd: venv,
      onlyFiles: false,
    });
    writeFileSync(join(venv, site!, 'shopkit.py'), 'rate = 7');
    const files = { 'h.py': python('shopkit.rate', 'import shopkit') };
    for (const [configured, answer] of [
      [venv, '7'],
      [join(venv, 'bin/python3'), '7'],
      [folder.at('absent'), 'handlers.python'],
    ] as const) {
      await using own = await startService({ files, config: { handlers: { python: configured } } });
      await own.accounts.user('boss', { superuser: true });
      const client = await own.as('boss');
      await eventually(async () =>
        expect(await (await client.fetch('/api/h/')).text()).toContain(answer),
      );
    }
  },
);

test('in read-only mode a handler is called for safe methods only (DS-22, DS-167)', async () => {
  await using fixed = await startService({
    files: { 'h.ts': `${script('"read"')}router.post('/', () => 'written');` },
    args: ['--readonly'],
  });
  await fixed.accounts.user('boss', { superuser: true });
  const client = await fixed.as('boss');
  await eventually(async () => {
    expect(await (await client.fetch('/api/h')).text()).toBe('read');
  }, 10_000);
  const response = await client.fetch('/api/h', { method: 'POST' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(await response.json()).toEqual({ detail: 'Server is in read-only mode' });
});
