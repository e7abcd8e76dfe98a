/**
 * Commands on a state that is damaged, or that the system does not let them have: told in a sentence, never as a fault of
 * the program (DS-200, EV-51).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, program, run } from '../support/program.ts';

let folder: string;
let docroot: string;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-damaged-')));
  docroot = join(folder, 'docroot');
  mkdirSync(docroot);
  writeFileSync(join(docroot, 'a.csv'), 'n\n1\n');
  const lines = Array.from({ length: 400 }, (_, n) => `{"data":"line ${n} ${'x'.repeat(200)}"}`);
  writeFileSync(join(folder, 'events.ndjson'), lines.join('\n'));
  const imported = await run(['events', 'import', docroot, join(folder, 'events.ndjson')]);
  expect(imported.code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the folder whose event store was changed. */
function damaged(name: string, change: (store: string) => void): string {
  const copy = join(folder, name);
  cpSync(docroot, copy, { recursive: true });
  change(join(copy, '.svc/events.sqlite'));
  return copy;
}

const REMEDY =
  /^PROBLEM: events: events\.sqlite cannot be used \(.+\): restore it from a backup, or move it away/m;

test('a sound store is no problem, nor is one that is not there', async () => {
  for (const root of [docroot, damaged('absent', (store) => rmSync(store))]) {
    const { code, out, err } = await run(['check', root]);
    expect([code, err]).toEqual([0, '']);
    expect(out).not.toContain('PROBLEM');
    expect((await run(['events', 'stats', root])).code).toBe(0);
    const found = await run(['search', root, '* | stats count', '--json']);
    expect([found.code, found.err]).toEqual([0, '']);
  }
});

test.each<[string, (store: string) => void]>([
  ['cut', (store) => truncateSync(store, 20_000)],
  ['cut to nothing', (store) => truncateSync(store, 0)],
  ['no database', (store) => writeFileSync(store, 'this is no database '.repeat(999))],
  [
    'with other bytes in its pages',
    (store) => {
      const bytes = readFileSync(store);
      bytes.fill(0x5a, 3 * 4096 + 10, bytes.length - 4096);
      writeFileSync(store, bytes);
    },
  ],
])(
  'svc check names a store that is %s, and other commands end with a sentence',
  async (name, change) => {
    const root = damaged(name.replaceAll(' ', '-'), change);
    const checked = await run(['check', root]);
    expect(checked.code).toBe(1);
    expect(checked.out).toMatch(REMEDY);
    const { problems } = JSON.parse((await run(['check', root, '--json'])).out) as {
      problems: { resource: string }[];
    };
    expect(problems.map(({ resource }) => resource)).toEqual(['events']);
    const found = await run(['search', root, '"line" | stats count']);
    expect(found.code).toBe(1);
    expect(found.err).toMatch(
      /^(?:svc: a database of the state directory is damaged \(.+\); svc check tells which one|events\.sqlite cannot be used \(it is empty.+)\n$/,
    );
    expect((await run(['events', 'stats', root])).err).not.toContain('internal error');
  },
);

test.skipIf(process.getuid?.() === 0 && Bun.which('setpriv') === null)(
  'what the system refuses is told as it says it',
  async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    const archive = join(folder, 'state.tar.gz');
    expect((await run(['backup', archive, docroot])).code).toBe(0);
    chmodSync(folder, 0o755);
    chmodSync(archive, 0o644);
    const { code, err } = await asOrdinaryUser(['restore', archive, join(closed, 'new')]);
    expect(code).toBe(1);
    expect(err).toMatch(/^svc: EACCES: permission denied, \w+ '.*closed.*'\n$/);
  },
);

/** Root may write everywhere, so what is tested is started without its rights. */
async function asOrdinaryUser(args: readonly string[]): Promise<{ code: number; err: string }> {
  if (process.getuid?.() !== 0) {
    const { code, err } = await run(args);
    return { code: code ?? -1, err };
  }
  const drop = [
    'setpriv',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--clear-groups',
    '--regid=65534',
    '--reuid=65534',
  ];
  const child = Bun.spawn([...drop, ...program, ...args], {
    cwd: '/',
    env: { ...environment(), HOME: '/' },
    stderr: 'pipe',
    stdout: 'ignore',
  });
  const [code, err] = await Promise.all([child.exited, child.stderr.text()]);
  return { code, err };
}
