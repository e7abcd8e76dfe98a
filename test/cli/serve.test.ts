import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/program.ts';
import { ServerProcess } from '../support/server-process.ts';
import { onSharedCores } from '../support/patience.ts';
import { PASSWORD } from '../support/password.ts';

let cwd = '';
let docroot = '';
let count = 0;

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'svc-serve-')));
});

beforeEach(async () => {
  count += 1;
  docroot = join(cwd, `data${count}`);
  await mkdir(docroot);
  await writeFile(join(docroot, 'tea.csv'), 'name,price\nAssam,3\n');
});

afterAll(() => rm(cwd, { recursive: true }));

function serve(...args: string[]): ServerProcess {
  return ServerProcess.start([docroot, '--port', '0', ...args], { cwd });
}

async function addSuperuser(): Promise<void> {
  const args = ['addsuperuser', docroot, '--username', 'ada', '--password-stdin'];
  const { code, err } = await run(args, { cwd, input: PASSWORD });
  expect([code, err]).toEqual([0, '']);
}

describe('starting (DS-200, DS-211)', () => {
  test('the first start needs no configuration, says where it serves, and how to begin', async () => {
    await using server = serve();
    const url = await server.ready();
    expect(server.out.text).toMatch(
      /^svc \d+\.\d+\.\d+\S* serving \/.* at http:\/\/127\.0\.0\.1:\d+\n/,
    );
    expect(server.out.text).toContain(` serving ${docroot} at `);
    const setup = await server.out.find(/^Create the first superuser: (.*)$/);
    expect(setup[1]).toStartWith(`${url}/auth/setup?token=`);
    await server.err.find(/svc addsuperuser/);
    expect((await fetch(url)).status).toBeGreaterThanOrEqual(200);
  });

  test('with an active superuser neither the setup line nor the hint appears', async () => {
    await addSuperuser();
    await using server = serve();
    await server.ready();
    server.signal('SIGTERM');
    expect(await server.ended()).toBe(0);
    expect(server.out.text).not.toContain('superuser');
    expect(server.err.text).not.toContain('addsuperuser');
  });

  test('a second server on the same state exits 1 and names the first (DS-92)', async () => {
    await using server = serve();
    await server.ready();
    const second = await run([docroot, '--port', '0'], { cwd });
    expect(second).toEqual({
      code: 1,
      out: '',
      err: `State directory is in use by process ${server.pid}\n`,
    });
  });

  test('an address that cannot be taken exits 1 and says why', async () => {
    await using server = serve();
    const { port } = new URL(await server.ready());
    const other = join(cwd, 'other');
    await mkdir(other);
    const taken = await run([other, '--port', port], { cwd });
    expect(taken.code).toBe(1);
    expect(taken.err.split('\n').at(-2)).toBe(
      `Cannot listen on 127.0.0.1: port ${port} is in use by another program; choose another with --port`,
    );
    const foreign = await run([other, '--port', '0', '--host', '192.0.2.1'], { cwd });
    expect(foreign.code).toBe(1);
    expect(foreign.err.split('\n').at(-2)).toBe(
      'Cannot listen on 192.0.2.1: this machine has no such address; choose another with --host',
    );
  });

  test('accounts can be added while it runs', async () => {
    await using server = serve();
    await server.ready();
    await addSuperuser();
  });
});

describe('stopping (DS-21)', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with exit code 0', async (signal) => {
    await using server = serve();
    const url = await server.ready();
    await (await fetch(url)).arrayBuffer();
    server.signal(signal);
    expect(await server.ended()).toBe(0);
  });

  test('a second signal ends it at once, whatever still runs', async () => {
    await using server = serve();
    const { hostname, port } = new URL(await server.ready());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const head = `POST /auth/login HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`;
    // The rest of the body never comes, so this request stays open.
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    socket.on('error', () => socket.destroy());
    // Answers that came after it: by then the open request has been taken up.
    for (let later = 0; later < 3; later++) {
      await (await fetch(`http://${hostname}:${port}/`)).arrayBuffer();
    }
    const started = performance.now();
    server.signal('SIGTERM');
    await stopsListening(Number(port), hostname);
    server.signal('SIGTERM');
    expect(await server.ended()).toBe('SIGTERM');
    expect(performance.now() - started).toBeLessThan(onSharedCores(5_000));
    socket.destroy();
  });
});

async function stopsListening(port: number, host: string): Promise<void> {
  for (;;) {
    const refused = await new Promise<boolean>((resolve) => {
      const probe = connect(port, host, () => {
        probe.destroy();
        resolve(false);
      }).on('error', () => resolve(true));
    });
    if (refused) return;
    await Bun.sleep(10);
  }
}

describe('SIGHUP (DS-199)', () => {
  test('applies what can change while running and names what needs a restart', async () => {
    const file = join(cwd, `hup${count}.yaml`);
    await writeFile(file, 'logging: {level: info, format: text}\n');
    await using server = serve('--config', file);
    await server.ready();
    await writeFile(file, 'logging: {level: info, format: json}\nmcp_enabled: false\n');
    server.signal('SIGHUP');
    const applied = JSON.parse((await server.err.find(/configuration reloaded/)).input);
    expect(applied).toMatchObject({ level: 'info', applied: ['logging.format'] });
    const waiting = JSON.parse((await server.err.find(/need a restart/)).input);
    expect(waiting).toMatchObject({ level: 'warning', restart: ['mcp_enabled'] });
  });

  test('an invalid file changes nothing and is reported with its line', async () => {
    const file = join(cwd, `bad${count}.yaml`);
    await writeFile(file, '');
    await using server = serve('--config', file);
    const url = await server.ready();
    await writeFile(file, 'readonly: true\nprot: 1\n');
    server.signal('SIGHUP');
    const line = await server.err.find(/configuration is invalid/);
    expect(line.input).toContain(`:2: unknown key 'prot'`);
    await writeFile(file, 'logging: {level: debug}\n');
    server.signal('SIGHUP');
    await server.err.find(/configuration reloaded/);
    expect((await fetch(url)).status).toBeGreaterThanOrEqual(200);
  });
});

describe('--reload', () => {
  test('a changed file restarts the server, a broken one does not, and it still stops cleanly', async () => {
    await using server = serve('--reload');
    await server.ready();
    const file = join(docroot, '.svc', 'config.yaml');
    await replace(file, 'prot: 1\n');
    await server.err.find(/unknown key 'prot'/);
    await replace(file, 'mcp_enabled: false\n');
    const url = await server.ready();
    expect((await fetch(url)).status).toBeGreaterThanOrEqual(200);
    server.signal('SIGTERM');
    expect(await server.ended()).toBe(0);
  });
});

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}
