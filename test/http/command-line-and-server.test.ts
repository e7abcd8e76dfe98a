/**
 * The command line beside a running server, on a real docroot: both tell the same of it (DS-29, DS-34, DS-200).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';

const EXAMPLES = resolve(import.meta.dir, '../../examples/docroot');

/** The example files with data, and some that need a word of warning. */
function docroot(): Record<string, Uint8Array | string> {
  const files: Record<string, Uint8Array | string> = {
    'health.csv': 'n\n1\n',
    'apikeys.csv': 'n\n1\n',
    'twin.csv': 'n\n1\n',
    'twin.CSV': 'n\n1\n',
    'odd name {é} 100%.csv': 'n\n1\n',
    'broken.csv': new Uint8Array([0x61, 0x0a, 0xff]),
    '.hidden.csv': 'n\n1\n',
    'node_modules/x.csv': 'n\n1\n',
  };
  for (const rel of readdirSync(EXAMPLES, { recursive: true }) as string[]) {
    const path = join(EXAMPLES, rel);
    // What handlers answer is their own business, and Python need not be there.
    if (/\.(?:ts|py)$/.test(rel)) continue;
    if (statSync(path).isFile()) files[rel] = readFileSync(path);
  }
  return files;
}

interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  readonly resource: string;
  readonly type: string;
}

interface Listing {
  readonly resources: readonly string[];
  readonly problems: readonly { readonly resource: string; readonly problem: string }[];
}

let service: Service;
let root: Client;
let endpoints: Endpoint[] = [];
beforeAll(async () => {
  service = await startService({ files: docroot(), config: { locks: { timeout_seconds: 3 } } });
  await service.createSuperuser('root');
  root = await service.as('root');
  const { stdout, exitCode, stderr } = await command('list-endpoints', '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  endpoints = JSON.parse(stdout) as Endpoint[];
});
afterAll(() => service[Symbol.asyncDispose]());

/** A command on the docroot of the running server, with its configuration. */
function command(name: string, ...flags: string[]) {
  const config = join(service.docroot, '..', 'svc.yaml');
  return service.command([name, service.docroot, '--config', config, ...flags]);
}

async function listing(): Promise<Listing> {
  return (await (await root.fetch('/')).json()) as Listing;
}

describe('svc list-endpoints', () => {
  test('names addresses that answer, with just the methods they have', async () => {
    expect(endpoints.length).toBeGreaterThan(10);
    for (const { path, methods, resource } of endpoints) {
      const isBroken = resource === 'broken';
      for (const spelled of [path, `${path}/`]) {
        const { status } = await root.fetch(`${spelled}?limit=1`);
        expect({ spelled, status }).toEqual({ spelled, status: isBroken ? 422 : 200 });
      }
      // The name of the shadowed file belongs to the built-in route.
      if (path === '/api/apikeys') continue;
      const allow = (await root.fetch(path, { method: 'OPTIONS' })).headers.get('Allow') ?? '';
      expect({ path, methods: [...methods].sort() }).toEqual({
        path,
        methods: allow.split(', ').sort(),
      });
    }
  });

  test('names every file that GET / names, and no other', async () => {
    const { resources } = await listing();
    const named = endpoints.map(({ path }) =>
      decodeURIComponent(path).replace(/^\/(?:api|media)\//, '/'),
    );
    // Of a workbook every worksheet is named below the file.
    const fileOf = (path: string): string | undefined =>
      resources.find((rel) => path === `/${rel}` || path.startsWith(`/${rel}/`));
    for (const rel of resources) expect(named.some((path) => fileOf(path) === rel)).toBe(true);
    const names = new Set(endpoints.map(({ resource }) => resource));
    const sheets = named.filter((path) => /\.xlsx\//.test(path)).length;
    const workbooks = resources.filter((rel) => rel.endsWith('.xlsx')).length;
    expect(names.size).toBe(resources.length - workbooks + sheets);
    expect(JSON.stringify(endpoints)).not.toMatch(/hidden|node_modules|\.svc/);
  });

  test('prints the same paths as text, in byte order', async () => {
    const { stdout } = await command('list-endpoints');
    const paths = stdout.trimEnd().split('\n');
    expect(paths).toEqual(endpoints.map(({ path }) => path));
    expect(paths).toEqual(
      [...paths].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    expect(paths.every((path) => !path.endsWith('/'))).toBe(true);
    expect(paths).toContain('/api/odd%20name%20%7B%C3%A9%7D%20100%25');
  });
});

describe('svc check', () => {
  test('counts what GET / lists, and names the same problems (DS-34)', async () => {
    const { stdout, exitCode } = await command('check', '--json');
    expect(exitCode).toBe(1);
    const findings = JSON.parse(stdout) as {
      resources: number;
      datasets: number;
      problems: { resource: string; reason: string }[];
    };
    const { resources, problems } = await eventually(async () => {
      const found = await listing();
      expect(found.problems.length).toBe(1);
      return found;
    });
    expect(findings.resources).toBe(new Set(endpoints.map(({ resource }) => resource)).size);
    const tables = endpoints.filter(({ type }) => ['csv', 'excel', 'parquet'].includes(type));
    expect(findings.datasets).toBe(new Set(tables.map(({ resource }) => resource)).size);
    expect(problems.every(({ resource }) => resources.includes(resource))).toBe(true);
    expect(findings.problems).toEqual(
      problems.map(({ resource, problem }) => ({ resource, reason: problem })),
    );
    const answer = (await (await root.fetch('/api/broken/')).json()) as { detail: string };
    expect(answer.detail).toBe(`Cannot read 'broken.csv': ${findings.problems[0]!.reason}`);
  });

  test('warns of names that are taken, and the form it recommends answers (DS-29)', async () => {
    const { stdout } = await command('check');
    expect(stdout).toMatch(/^Discovered \d+ dataset\(s\), \d+ resource\(s\)$/m);
    expect(stdout).toMatch(/^PROBLEM: broken\.csv: .*byte offset 2/m);
    const [, form = ''] =
      /^WARNING: apikeys\.csv is shadowed by the built-in \/api\/apikeys route; use (\S+)$/m.exec(
        stdout,
      ) ?? [];
    expect(form).toBe('apikeys.csv');
    expect(await (await root.fetch(`/api/${form}/`)).text()).toBe('[{"_row_id":1,"n":1}]');
    expect(stdout).toMatch(/^WARNING: twin\.csv shares the name 'twin' with twin\.CSV$/m);
  });

  test('leaves the docroot as it was, and the server undisturbed', async () => {
    const before = readdirSync(service.docroot, { recursive: true }).sort();
    await Promise.all([command('check'), command('check'), command('list-endpoints')]);
    const after = (readdirSync(service.docroot, { recursive: true }) as string[]).filter(
      (name) => !name.startsWith('.svc/'),
    );
    expect(after.sort()).toEqual((before as string[]).filter((name) => !name.startsWith('.svc/')));
    expect((await root.fetch('/api/twin/')).status).toBe(200);
  });
});

describe('svc config', () => {
  test('names the value and source of every setting, the one of the running server included', async () => {
    const { stdout, exitCode } = await command('config', '--json');
    expect(exitCode).toBe(0);
    const shown = JSON.parse(stdout) as Record<string, { value: unknown; source: string }>;
    expect(shown['locks.timeout_seconds']?.value).toBe(3);
    expect(shown['locks.timeout_seconds']?.source).toMatch(/svc\.yaml:\d+$/);
    expect(shown['locks.ttl_seconds']).toEqual({ value: 300, source: 'default' });
    expect(shown['limits.max_body_bytes']?.value).toBe(33_554_432);
    expect(shown['docroot']?.value).toBe(service.docroot);
  });
});

describe('svc addsuperuser', () => {
  const add = (username: string, ...flags: string[]) =>
    service.command(
      ['addsuperuser', service.docroot, '--username', username, '--password-stdin', ...flags],
      `${PASSWORD}\n`,
    );

  test('makes an account that signs in at once, without a restart', async () => {
    const { exitCode, stdout, stderr } = await add('second');
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: "Created superuser 'second'\n",
      stderr: '',
    });
    const body = JSON.stringify({ username: 'second', password: PASSWORD });
    expect((await service.fetch('/auth/login', { method: 'POST', body })).status).toBe(200);
    const again = await add('second');
    expect({ exitCode: again.exitCode, stdout: again.stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(again.stderr).toBe("User 'second' already exists\n");
  });

  test('may be run by several at once: one of them makes the account', async () => {
    const runs = await Promise.all(Array.from({ length: 4 }, () => add('third')));
    expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1, 1, 1]);
  });
});
