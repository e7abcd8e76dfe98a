/**
 * The Debian package on a copy of this system: installed, started as the unit says, upgraded, removed, purged. The state that
 * is upgraded is of an older build; the older package holds this executable, as no release with a package came before.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDebianPackage, packagedUnit } from '../../../build/release/debian-package.ts';
import { bashCompletion, manualPage } from '../../../build/release/manual.ts';
import { root } from '../../../build/step.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { DebianSystem } from './debian-system.ts';
import { INSIDE, copyOfThisSystem, obstacleToInstalling } from './debian-system.ts';
import { PASSWORD, STATES, schemaOf, unpackState } from './state-archive.ts';
import type { Answers } from './state-archive.ts';
import { LONGEST_TEST_MS, patienceFor } from '../../support/patience.ts';

const executable = process.env['TEST_BINARY'] ?? '';
const obstacle = executable === '' ? 'there is no executable' : obstacleToInstalling();
if (obstacle !== null) console.log(`The Debian package is not installed here: ${obstacle}.`);

const OLD = '0.0.9';
const NEW = '0.1.0';
const READY_LIMIT_MS = 20_000;
const TRACES = ['/etc/svc', '/usr/share/doc/svc', '/var/lib/dpkg/info/svc.list', '/srv/svc'];
const present = TRACES.filter((path) => existsSync(path));
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Makes the package of a version in the folder. */
function makePackage(version: string): string {
  const scratch = folder.at(`files-${version}`);
  mkdirSync(scratch);
  return makeDebianPackage({
    executable,
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    version,
    committed: new Date('2026-01-02T03:04:05Z'),
    parties: [],
    compression: 'none',
    scratch,
    to: folder.path,
  });
}

describe('what the package is made of', () => {
  test('the unit starts the packaged executable and does not need the folder', () => {
    const unit = packagedUnit(readFileSync(join(root, 'systemd/svc.service'), 'utf8'));
    expect(unit).toStartWith('[Unit]\nDocumentation=man:svc(1)\nDescription=');
    expect(unit).toContain('ExecStart=/usr/bin/svc serve --config /etc/svc/config.yaml\n');
    expect(unit).toContain('\nReadWritePaths=-/srv/svc\n');
    expect(unit).not.toContain('useradd');
  });

  test('the manual names every command and flag, and groff has nothing to say about it', () => {
    const page = manualPage('1.2.3', new Date('2026-01-02T03:04:05Z'));
    expect(page).toStartWith('.TH SVC 1 "2026-01-02" "svc 1.2.3" "User Commands"\n');
    for (const words of ['.SS svc serve [root]', '.SS svc admin grant', '.B \\-\\-port']) {
      expect(page).toContain(words);
    }
    if (Bun.which('groff') === null) return;
    const formatted = Bun.spawnSync(['groff', '-man', '-Tutf8', '-ww'], {
      stdin: Buffer.from(page),
      stderr: 'pipe',
    });
    expect([formatted.exitCode, formatted.stderr.toString()]).toEqual([0, '']);
  });

  test.skipIf(Bun.which('bash') === null)('the completion offers commands and flags', () => {
    const complete = (...words: string[]): string => {
      const ask = `COMP_WORDS=(svc "$@"); COMP_CWORD=$#; _svc; printf '%s ' "\${COMPREPLY[@]}"`;
      const script = `${bashCompletion()}\n${ask}`;
      return Bun.spawnSync(['bash', '-c', script, 'bash', ...words])
        .stdout.toString()
        .trim();
    };
    expect(complete('lic')).toBe('licenses');
    expect(complete('admin', 'create-u')).toBe('create-user');
    expect(complete('serve', '--po')).toBe('--port');
    expect(complete('admin', 'grant', '--act')).toBe('--action');
  });
});

describe.skipIf(obstacle !== null)('the package on a Debian system', () => {
  let system: DebianSystem;
  let answers: Answers;

  beforeAll(async () => {
    makePackage(OLD);
    makePackage(NEW);
    const older = readdirSync(STATES).find((name) => name.startsWith('state-5-events-1-'))!;
    mkdirSync(folder.at('older'));
    answers = await unpackState(join(STATES, older), folder.at('older'));
    system = await copyOfThisSystem(folder.path);
    // Pages of the whole system would be read again after every package.
    await system.shell('rm -f /var/lib/man-db/auto-update');
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const install = (version: string) =>
    system.run('sh', '-c', `dpkg -i /tmp/given/svc_${version}_*.deb`);
  const exists = async (path: string): Promise<boolean> =>
    (await system.run('test', '-e', path)).code === 0;

  /** Starts the service as systemd would by the unit, lets `use` ask it, and ends it in order. */
  async function whileServing(use: (url: string, pid: number) => Promise<void>): Promise<void> {
    const unit = await system.shell('cat /usr/lib/systemd/system/svc.service');
    const all = (name: string): string[] =>
      [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!);
    const [user, group] = [all('User')[0]!, all('Group')[0]!];
    // A port of its own by the file that the unit reads variables from.
    await system.shell('echo SVC_PORT=0 > /etc/svc/environment');
    expect(all('EnvironmentFile')).toEqual(['-/etc/svc/environment']);
    const command = [
      ...['setpriv', '--reuid', user, '--regid', group, '--init-groups', '--no-new-privs'],
      ...['env', '-i', `PATH=${INSIDE['PATH']}`, ...all('Environment')],
      ...(await system.shell('cat /etc/svc/environment')).trim().split('\n'),
      ...[
        'sh',
        '-c',
        `umask ${all('UMask')[0]} && cd ${all('WorkingDirectory')[0]} && exec "$@"`,
        'sh',
      ],
      ...all('ExecStart')[0]!.split(' '),
    ];
    const child = Bun.spawn(system.inside(command), {
      env: INSIDE,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: Bun.file(folder.at('log')),
      timeout: LONGEST_TEST_MS,
    });
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let printed = '';
    const started = performance.now();
    while (
      !/ at http\S+\n/.test(printed) &&
      performance.now() - started < patienceFor(READY_LIMIT_MS)
    ) {
      const { done, value } = await lines.read();
      if (done) throw new Error(`${printed}\n${readFileSync(folder.at('log'), 'utf8')}`);
      printed += value;
    }
    try {
      await use(/ at (http:\S+?)\/?\n/.exec(printed)![1]!, child.pid);
    } finally {
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
    }
  }

  async function superuserKey(url: string): Promise<Record<string, string>> {
    const made = await fetch(`${url}/api/apikeys`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`root:${PASSWORD}`)}` },
      body: JSON.stringify({ description: 'package' }),
    });
    expect(made.status).toBe(201);
    return { 'X-API-Key': ((await made.json()) as { key: string }).key };
  }

  test('is installed without a question: program, manual, unit, user, folders', async () => {
    const { code, text } = await install(OLD);
    expect([code, text]).toEqual([0, expect.stringContaining(`Setting up svc (${OLD})`)]);
    expect(text).not.toMatch(/warning|error/i);
    expect(await system.shell('svc --version')).toStartWith('svc 0.');
    expect(await system.shell('getent passwd svc')).toMatch(/^svc:.*:\/var\/lib\/svc:.*nologin$/m);
    const modes = "stat -c '%a %U:%G %n' /etc/svc/config.yaml /srv/svc /usr/bin/svc /var/lib/svc";
    expect((await system.shell(modes)).trim().split('\n')).toEqual([
      '644 root:root /etc/svc/config.yaml',
      '755 svc:svc /srv/svc',
      '755 root:root /usr/bin/svc',
      '700 svc:svc /var/lib/svc',
    ]);
    const config = await system.shell('runuser -u svc -- svc config');
    expect(config).toContain('docroot: "/srv/svc" # /etc/svc/config.yaml');
    expect(config).toContain('state_dir: "/var/lib/svc" # /etc/svc/config.yaml');
    expect(await system.shell('dpkg --verify svc; gzip -t /usr/share/man/man1/svc.1.gz')).toBe('');
    expect(await exists('/etc/systemd/system/multi-user.target.wants/svc.service')).toBe(true);
  });

  test('serves the packaged folder to this machine alone, as its own user', async () => {
    await system.shell('cp /tmp/given/older/docroot/tea.csv /srv/svc; chown svc:svc /srv/svc/*');
    await whileServing(async (url, pid) => {
      expect(url).toStartWith('http://127.0.0.1:');
      expect((await fetch(`${url}/health`)).status).toBe(200);
      const uid = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      expect(`${uid}\n`).toBe(await system.shell('id -u svc'));
    });
    expect(await exists('/var/lib/svc/svc.db')).toBe(true);
  });

  test('an upgrade keeps accounts, rights, audit, events, searches and the configuration', async () => {
    await system.shell(`rm -rf /var/lib/svc/*; cp -a /tmp/given/older/state/. /var/lib/svc
      chown -R svc:svc /var/lib/svc; echo 'mcp_enabled: false' >> /etc/svc/config.yaml`);
    const { code, text } = await install(NEW);
    expect([code, text]).toEqual([0, expect.stringContaining(`Setting up svc (${NEW})`)]);
    expect(await system.shell('tail -1 /etc/svc/config.yaml')).toBe('mcp_enabled: false\n');
    await whileServing(async (url) => {
      const headers = await superuserKey(url);
      for (const [path, answer] of Object.entries(answers.told)) {
        const now = await fetch(`${url}${path}`, { headers });
        expect([path, now.status]).toEqual([path, 200]);
        expect(await now.json()).toMatchObject(answer as object);
      }
      const listed = await fetch(`${url}/admin/audit-logs?limit=200`, { headers });
      const audit = (await listed.json()) as { id: number }[];
      for (const entry of answers.audit) {
        expect(audit.find(({ id }) => id === entry.id)).toMatchObject(entry);
      }
      const bea = { 'X-API-Key': answers.key };
      expect((await fetch(`${url}/api/tea/`, { headers: bea })).status).toBe(200);
      expect((await fetch(`${url}/admin/users`, { headers: bea })).status).toBe(403);
    });
    await system.shell('cp /var/lib/svc/events.sqlite /tmp/given');
    expect(schemaOf(folder.at('events.sqlite'))).toBeGreaterThan(1);
  });

  test('its scripts may run again', async () => {
    const before = await system.shell('ls -lnR /var/lib/svc /srv/svc; getent passwd svc');
    for (const version of [NEW, OLD]) {
      await system.shell(`/var/lib/dpkg/info/svc.postinst configure ${version}`);
    }
    expect(await system.shell('ls -lnR /var/lib/svc /srv/svc; getent passwd svc')).toBe(before);
  });

  test('a removal leaves configuration, state and files', async () => {
    const { code, text } = await system.run('dpkg', '--remove', 'svc');
    expect([code, text]).toEqual([0, expect.stringContaining('Removing svc')]);
    expect(await exists('/usr/bin/svc')).toBe(false);
    for (const path of ['/etc/svc/config.yaml', '/var/lib/svc/svc.db', '/srv/svc/tea.csv']) {
      expect([path, await exists(path)]).toEqual([path, true]);
    }
    expect((await install(NEW)).code).toBe(0);
    await whileServing(async (url) => void (await superuserKey(url)));
  });

  test('a purge asks nothing, deletes the state, and neither the published folder nor what is foreign', async () => {
    await system.shell(
      'rm /etc/svc/environment; mkdir /var/lib/svc/films; echo > /var/lib/svc/films/a.mp4',
    );
    const { code, text } = await system.run('dpkg', '--purge', 'svc');
    expect(code).toBe(0);
    expect(text).not.toMatch(/error/i);
    expect(await system.shell('find /var/lib/svc /srv/svc | sort')).toBe(
      '/srv/svc\n/srv/svc/tea.csv\n/var/lib/svc\n/var/lib/svc/films\n/var/lib/svc/films/a.mp4\n',
    );
    expect(await exists('/etc/svc')).toBe(false);
    expect(await system.shell('find /etc/systemd /usr/lib/systemd -name "svc.service*"')).toBe('');
    expect((await system.run('sh', '-c', 'dpkg -s svc')).code).not.toBe(0);
  });

  test('and where only its own state was, the folder goes too', async () => {
    await system.shell('rm -r /var/lib/svc');
    expect((await install(NEW)).code).toBe(0);
    await whileServing(async () => undefined);
    expect((await system.run('dpkg', '--purge', 'svc')).text).not.toMatch(/error/i);
    // The file that the test made for the port.
    expect(await system.shell('ls /etc/svc')).toBe('environment\n');
    expect(await exists('/var/lib/svc')).toBe(false);
    expect(await exists('/srv/svc/tea.csv')).toBe(true);
  });
});

test('nothing of it is left on this system', () => {
  expect(TRACES.filter((path) => existsSync(path))).toEqual(present);
});
