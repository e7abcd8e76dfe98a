/**
 * Archives of the state that a build left behind, for the test that later builds keep all of it.
 *
 *     bun test/long/release/state-archive.ts <executable>
 *
 * writes test/long/release/states/state-<schema>-events-<schema>-<version>.tar.gz with that build: the published folder, the state directory, and what the build
 * itself answered about both. Every release adds one. Steps that a build does not know yet are left out of its archive.
 */
import { Database } from 'bun:sqlite';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Where the archives stand. */
export const STATES = join(import.meta.dir, 'states');
/** Of every account in the archives. */
export const PASSWORD = 'correct Horse 7 battery';
const READY_LIMIT_MS = 15_000;
/** Questions whose answers a later build must give again, with nothing missing. */
const QUESTIONS = [
  '/api/tea/',
  '/api/events/',
  '/api/savedsearches/',
  '/admin/users',
  '/admin/groups',
  '/admin/permissions',
] as const;
const FILES = ['docroot', 'state', 'answers.json'];

/** What the build said about the state it left. */
export interface Answers {
  /** As `svc --version` prints it. */
  readonly version: string;
  /** By path: what the superuser was told. */
  readonly told: Readonly<Record<string, unknown>>;
  readonly audit: readonly {
    readonly id: number;
    readonly action: string;
    readonly details: string;
  }[];
  /** An API key of `bea`, who may read `tea` by a group; of the superuser where there was nobody else. */
  readonly key: string;
}

/** `user_version` of a database; 0 where there is none. */
export function schemaOf(file: string): number {
  if (!existsSync(file)) return 0;
  using db = new Database(file);
  return (db.query('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Makes the archive of one build and answers its path. */
async function archiveState(executable: string): Promise<string> {
  using folder = temporaryFolder({ 'docroot/tea.csv': 'tea,price\nassam,3\nsencha,5\nmate,2\n' });
  const maker = new StateMaker(executable, folder.path);
  const version = (await maker.command(['--version'])).trim().replace(/^svc /, '');
  await maker.accounts();
  const server = await maker.serve();
  const key = await maker.use(server.url);
  const told: Record<string, unknown> = {};
  for (const path of QUESTIONS) {
    const answer = await maker.ask(`${server.url}${path}`);
    if (answer.ok) told[path] = await answer.json();
  }
  await server.stop();
  const db = new Database(folder.at('state/svc.db'));
  const audit = db.query('SELECT id, action, details FROM audit ORDER BY id').all();
  db.close();
  folder.write('answers.json', `${JSON.stringify({ version, told, audit, key }, null, 2)}\n`);
  for (const derived of ['lock', 'tmp', 'search', 'events-index.sqlite']) {
    rmSync(folder.at(`state/${derived}`), { recursive: true, force: true });
  }
  mkdirSync(STATES, { recursive: true });
  const schemas = ['svc.db', 'events.sqlite'].map((name) => schemaOf(folder.at(`state/${name}`)));
  const archive = join(STATES, `state-${schemas.join('-events-')}-${version}.tar.gz`);
  tar('-czf', archive, '-C', folder.path, '--owner=0', '--group=0', ...FILES);
  return archive;
}

/** Unpacks an archive into an existing folder, as `docroot`, `state` and the answers. */
export async function unpackState(archive: string, folder: string): Promise<Answers> {
  tar('-xzf', archive, '-C', folder, '--no-same-owner');
  return (await Bun.file(join(folder, 'answers.json')).json()) as Answers;
}

function tar(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['tar', ...args]);
  if (exitCode !== 0) throw new Error(`tar: ${stderr.toString()}`);
}

class StateMaker {
  readonly #executable: string;
  readonly #folder: string;

  constructor(executable: string, folder: string) {
    this.#executable = executable;
    this.#folder = folder;
  }

  /** What the command prints; empty for one this build does not have. */
  async command(args: readonly string[]): Promise<string> {
    const child = Bun.spawn([this.#executable, ...args], {
      cwd: this.#folder,
      stdin: new Blob([`${PASSWORD}\n`]),
      stderr: 'pipe',
    });
    const [out, err, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (code === 1) throw new Error(`${args.join(' ')}: ${err}`);
    return code === 0 ? out : '';
  }

  async accounts(): Promise<void> {
    const on = ['docroot', '--state-dir', 'state'];
    const group = ['--group', 'staff'];
    const grant = ['admin', 'grant', ...on, ...group, '--action', 'read', '--resource'];
    await this.command(['addsuperuser', ...on, '--username', 'root', '--password-stdin']);
    await this.command(['admin', 'create-user', ...on, '--username', 'bea', '--password-stdin']);
    await this.command(['admin', 'create-group', ...on, '--name', 'staff']);
    await this.command(['admin', 'add-to-group', ...on, ...group, '--username', 'bea']);
    await this.command([...grant, 'tea']);
    await this.command([...grant, '@events/web']);
  }

  async serve(): Promise<{ readonly url: string; stop(): Promise<void> }> {
    const args = ['serve', 'docroot', '--state-dir', 'state', '--port', '0'];
    const child = Bun.spawn([this.#executable, ...args], {
      cwd: this.#folder,
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: 60_000,
    });
    const decoder = new TextDecoder();
    let printed = '';
    const started = performance.now();
    for await (const chunk of child.stdout) {
      printed += decoder.decode(chunk, { stream: true });
      const url = / at (http:\S+?)\/?\n/.exec(printed)?.[1];
      if (url !== undefined) {
        return {
          url,
          stop: async () => {
            child.kill('SIGTERM');
            await child.exited;
          },
        };
      }
      if (performance.now() - started > READY_LIMIT_MS) break;
    }
    throw new Error(`${this.#executable} did not get ready: ${printed}`);
  }

  /** Changes rows, stores events and a search, and answers the key it made. */
  async use(url: string): Promise<string> {
    const rows = `${url}/api/tea/`;
    await this.ask(rows, 'POST', { action: 'create', data: [{ tea: 'oolong', price: 7 }] });
    await this.ask(rows, 'DELETE', { action: 'delete', data: { _row_id: 2 } });
    for (const data of ['status=500 took=12', 'status=200 took=3', 'grüße=1']) {
      await this.ask(`${url}/api/events/`, 'POST', { index: 'web', sourcetype: 'kv', data });
    }
    const search = { name: 'failures', query: 'status>=500', is_public: true };
    await this.ask(`${url}/api/savedsearches/`, 'POST', search);
    for (const user of ['bea', 'root']) {
      const answer = await this.ask(`${url}/api/apikeys`, 'POST', { description: 'old' }, user);
      if (answer.ok) return ((await answer.json()) as { key: string }).key;
    }
    throw new Error('no API key was made');
  }

  /** An answer; an address that this build does not know is no failure, anything else is. */
  async ask(url: string, method = 'GET', body?: unknown, user = 'root'): Promise<Response> {
    const authorization = `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`;
    const answer = await fetch(url, {
      method,
      headers: { authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (![200, 201, 401, 404].includes(answer.status)) {
      throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
    }
    return answer;
  }
}

if (import.meta.main) {
  const executable = process.argv[2];
  if (executable === undefined) throw new Error('name the executable of the build');
  console.log(await archiveState(executable));
}
