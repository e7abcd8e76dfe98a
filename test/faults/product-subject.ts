/**
 * The product as a subject: the compiled executable serving the load's table, whose row ids differ from positions, and a
 * canary file beside it.
 */
import { Database } from 'bun:sqlite';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tableId } from '../../src/tables/copy/copy-folder.ts';
import { isTemporaryName } from '../../src/base/files/temporary-files.ts';
import { type Client, Service } from '../support/service.ts';
import { type EditLoad, LAST_KEY } from './edit-load.ts';
import { onSharedCores, patienceFor } from '../support/patience.ts';
import type { Subject } from './subject.ts';
import type { Trial } from './trial.ts';

/** A server is well again this soon after its start, or after a fault is over (reliability F1). */
const WELL_WITHIN_MS = 2_000;
/** The same among other tests, where only a start that hangs is told apart. */
const WELL_AMONG_OTHERS_MS = 6_000;
const CANARY = 'name\ncanary\n';

/** Where the service and its table stand, and what runs before it starts for the first time. */
interface ProductOptions {
  /** Folder of the table inside of the document root; '' for the root itself. */
  readonly folder?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Called with the empty document root. */
  readonly prepare?: (docroot: string) => void;
}

/** A running product that serves the load's file. */
export async function startProduct(
  load: EditLoad,
  options: ProductOptions = {},
): Promise<ProductSubject> {
  const service = new Service({ ...(options.config && { config: options.config }) });
  try {
    options.prepare?.(service.docroot);
    const rel = join(options.folder ?? '', 't.csv');
    // Its first row goes, and one behind the last: ids and positions differ from then on.
    service.write(rel, load.text().replace('\n', '\ngone,,\n'));
    service.write('canary.csv', CANARY);
    await service.start();
    await service.accounts.grant('ed', '*', 'read', 'write');
    const key = await service.accounts.apiKey('ed');
    // A handle of ours on the database would do a part of the server's recovery.
    await service.accounts.close();
    const subject = new ProductSubject(service, key, load, rel);
    await subject.spreadIds();
    return subject;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    throw error;
  }
}

export class ProductSubject implements Subject {
  readonly service: Service;
  /** An API key that may read and write everything. */
  readonly key: string;
  readonly client: Client;
  readonly file: string;
  /** Address of the table's rows. */
  readonly path: string;
  readonly #rel: string;
  readonly #load: EditLoad;
  #startedAt = performance.now();
  #isRunning = true;
  #hasSpreadIds = false;

  constructor(service: Service, key: string, load: EditLoad, rel: string) {
    this.service = service;
    this.key = key;
    this.client = service.withHeaders({ 'X-API-Key': key });
    this.file = join(service.docroot, rel);
    this.path = `/api/${rel.replace(/\.csv$/, '')}/`;
    this.#rel = rel;
    this.#load = load;
  }

  get pid(): number {
    return this.service.pid;
  }

  readonly send = async (row: number, value: string): Promise<number> => {
    const answer = await this.change('PATCH', this.editBody(row, value));
    await answer.text();
    return answer.status;
  };

  /** What `send` sends. */
  editBody(row: number, value: string): string {
    return JSON.stringify({ action: 'update', data: { _row_id: this.#idOf(row - 1), value } });
  }

  change(method: string, body: string): Promise<Response> {
    return this.client.fetch(this.path, { method, body });
  }

  text(): string {
    return readFileSync(this.file, 'utf8');
  }

  async start(under: readonly string[] = []): Promise<void> {
    this.#startedAt = performance.now();
    this.#isRunning = true;
    await this.service.start(under);
  }

  async kill(signal: NodeJS.Signals): Promise<number> {
    const exitCode = await this.service.kill(signal);
    this.#isRunning = false;
    return exitCode;
  }

  async verify(trial: Trial, where: string): Promise<void> {
    const health = await this.client.fetch('/health');
    const tookMs = Math.round(performance.now() - this.#startedAt);
    trial.check(health.status === 200, `${where}: /health answers ${health.status}`);
    const limitMs = onSharedCores(trial.times(WELL_AMONG_OTHERS_MS, WELL_WITHIN_MS));
    trial.check(tookMs <= limitMs, `${where}: well after ${tookMs} ms only`);
    trial.countMost('slowest restart, ms', tookMs);
    await this.verifyRows(trial, where);
    await this.#verifyHistory(trial, where);
    for (const name of await this.#lastingLeftovers()) trial.fail(`${where}: left ${name}`);
    const { locks, edits } = this.#stateFigures();
    trial.check(locks === 0, `${where}: ${locks} locks left`);
    const { answered } = this.#load;
    trial.check(edits >= answered, `${where}: ${answered} edits answered, ${edits} in the audit`);
  }

  /** What history says was done to a row last is what the row holds. */
  async #verifyHistory(trial: Trial, where: string): Promise<void> {
    const answer = await this.client.fetch(
      `${this.path.replace('/api/', '/_svc/history/')}?limit=200`,
    );
    trial.check(answer.status === 200, `${where}: the history answers ${answer.status}`);
    if (answer.status !== 200) return;
    const changes = (await answer.json()) as HistoryEntry[];
    const rows = (await (await this.client.fetch(this.path)).json()) as ServedRow[];
    const values = new Map(rows.map(({ _row_id: id, value }) => [id, value]));
    const seen = new Set<number>();
    for (const { state, user, rows: changed } of changes) {
      // Rows before another program's change had other ids.
      if (user === null) return;
      trial.check(state === 'made', `${where}: a change is ${state}`);
      for (const { _row_id: id, after } of changed) {
        const isNewest = !seen.has(id);
        seen.add(id);
        const isSo = after === null ? !values.has(id) : after.value === values.get(id);
        trial.check(!isNewest || isSo, `${where}: history says row ${id} is ${after?.value}`);
      }
    }
  }

  /** The rows as served must be those of the file, each under its own id, and the canary must sing. */
  async verifyRows(trial: Trial, where: string): Promise<void> {
    const canary = await (await this.client.fetch('/api/canary/')).text();
    trial.check(canary === '[{"_row_id":1,"name":"canary"}]', `${where}: the canary: ${canary}`);
    const { status, difference } = await this.readRows();
    trial.check(status === 200, `${where}: a read answers ${status}`);
    if (difference !== null)
      trial.fail(`${where}: served is not what the file holds, ${difference}`);
  }

  /**
   * Asks for all rows; where they are not those of the file, null when they are, or when there are none to compare.
   * `between` runs before the comparison.
   */
  async readRows(
    query = '',
    between?: () => void,
  ): Promise<{ status: number; difference: string | null }> {
    const answer = await this.client.fetch(this.path + query);
    const body = await answer.text();
    between?.();
    if (answer.status !== 200) return { status: answer.status, difference: null };
    const found = servedLines(body);
    if (found === null) return { status: 200, difference: `no JSON: ${body.slice(0, 60)}` };
    const expected = this.#expectedLines();
    if (query.includes('sort=-')) expected.reverse();
    const at = expected.findIndex((line, index) => line !== found[index]);
    const isSame = at < 0 && found.length === expected.length;
    const difference = isSame ? null : `line ${at}: ${found[at]?.slice(0, 60)}`;
    return { status: 200, difference };
  }

  /** A child that was just starting when its server was killed makes its socket and takes it away again. */
  async #lastingLeftovers(): Promise<string[]> {
    const until = performance.now() + patienceFor(WELL_WITHIN_MS);
    let left = await this.leftovers();
    while (left.length > 0 && performance.now() < until) {
      await Bun.sleep(100);
      left = await this.leftovers();
    }
    return left;
  }

  /** Files that no running server needs: temporaries, held versions, surplus copies, sockets of the dead. */
  async leftovers(): Promise<string[]> {
    const { docroot, stateDir } = this.service;
    const names = [...new Bun.Glob('**/*').scanSync({ cwd: docroot, dot: true })];
    const temporary = names.filter((name) => isTemporaryName(name.split('/').at(-1)!));
    const inState = (folder: string): string[] =>
      existsSync(join(stateDir, folder)) ? readdirSync(join(stateDir, folder)) : [];
    const copies = inState('tables').filter((name) => name.endsWith('.sqlite'));
    const ids = copies.map((name) => name.split('.')[0]);
    const own = ['canary.csv', this.#rel].map((rel) => tableId({ rel, sheet: null }));
    const surplus = copies.filter(
      (_, at) => !own.includes(ids[at]!) || ids.indexOf(ids[at]) !== at,
    );
    const living = this.#isRunning ? `-${this.pid}-` : null;
    const sockets = inState('run').filter((name) => living === null || !name.includes(living));
    const drafts = readdirSync(stateDir).filter((name) => name.includes('.new-'));
    return [
      ...temporary,
      ...surplus,
      ...sockets,
      ...drafts,
      ...inState('replaced'),
      ...inState('tmp'),
    ];
  }

  /** Deletes the typed copies of a server that does not run; with them goes what the row ids were (DS-49). */
  forgetCopies(): void {
    const folder = join(this.service.stateDir, 'tables');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    this.#hasSpreadIds = false;
  }

  /** Finds out whether the rows have the ids they had or were numbered anew, either of which is a numbering. */
  async noticeNumbering(): Promise<void> {
    const answer = await this.client.fetch(`${this.path}?limit=1&columns=_row_id`);
    const body = await answer.text();
    if (answer.status === 200) this.#hasSpreadIds = !body.startsWith('[{"_row_id":1');
  }

  /** Gives the rows ids that no position has: the first row goes, and one of two new ones. Once. */
  async spreadIds(): Promise<void> {
    const ok = async (method: string, body: unknown): Promise<void> => {
      const answer = await this.change(method, JSON.stringify(body));
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    };
    const last = this.#load.rows + 2;
    await ok('DELETE', { action: 'delete', data: { _row_id: 1 } });
    await ok('DELETE', { action: 'delete', data: { _row_id: last } });
    const rows = [{ key: 'gone' }, { key: LAST_KEY, value: 'v0' }];
    await ok('POST', { action: 'create', data: rows });
    await ok('DELETE', { action: 'delete', data: { _row_id: last + 1 } });
    this.#hasSpreadIds = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }

  #expectedLines(): string[] {
    const lines = this.text().trimEnd().split('\n').slice(1);
    return lines.map((line, at) => `${this.#idOf(at)},${line}`);
  }

  /** The id of the row at a position. */
  #idOf(position: number): number {
    if (!this.#hasSpreadIds) return position + 1;
    return position < this.#load.rows ? position + 2 : position + 4;
  }

  #stateFigures(): { locks: number; edits: number } {
    const db = new Database(join(this.service.stateDir, 'svc.db'), { readonly: true });
    try {
      const count = (sql: string): number => (db.query(sql).values()[0] as [number])[0];
      return {
        locks: count('SELECT count(*) FROM locks'),
        edits: count("SELECT count(*) FROM audit WHERE action = 'update_dataset_row'"),
      };
    } finally {
      db.close();
    }
  }
}

type ServedRow = Readonly<Record<'key' | 'value' | 'pad', unknown>> & { readonly _row_id: number };

interface HistoryEntry {
  readonly state: string;
  readonly user: string | null;
  readonly rows: readonly { readonly _row_id: number; readonly after: { value: unknown } | null }[];
}

function servedLines(body: string): string[] | null {
  try {
    const rows = JSON.parse(body) as ServedRow[];
    return rows.map(({ _row_id, key, value, pad }) => `${_row_id},${key},${value},${pad}`);
  } catch {
    return null;
  }
}
