/**
 * What the recipes about events act on: the product with its process that writes, or a store that is wrong on purpose.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../http/eventually.ts';
import { type Client, type Service, startService } from '../support/service.ts';
import { patienceFor } from '../support/patience.ts';

/** A running store. */
export interface EventSubject extends AsyncDisposable {
  readonly stateDir: string;
  /** Status of the answer to one event. Throws when the connection breaks. */
  send(data: string): Promise<number>;
  /** Process id of whoever writes the store now. */
  writer(): Promise<number>;
  /** Process id of whoever starts another writer when one ends; null where nobody does. */
  readonly starter: number | null;
  /** Kills everything at once (SIGKILL). */
  kill(): Promise<void>;
  /** Starts it again after `kill`. */
  start(): Promise<void>;
}

const SEND_LIMIT_MS = 5_000;
const WRITER_LIMIT_MS = 15_000;

/** The product. */
export async function startEventProduct(): Promise<EventSubject> {
  const service = await startService({ config: { events: { min_free_bytes: 1 } } });
  await service.accounts.grant('load', '@events', 'write');
  const client = await service.as('load');
  await service.accounts.close();
  return new Product(service, client);
}

class Product implements EventSubject {
  readonly #service: Service;
  readonly #client: Client;

  constructor(service: Service, client: Client) {
    this.#service = service;
    this.#client = client;
  }

  get stateDir(): string {
    return this.#service.stateDir;
  }

  get starter(): number {
    return this.#service.pid;
  }

  async send(data: string): Promise<number> {
    const { status } = await this.#client.fetch('/api/events/', {
      method: 'POST',
      body: JSON.stringify({ data }),
      signal: AbortSignal.timeout(patienceFor(SEND_LIMIT_MS)),
    });
    return status;
  }

  writer(): Promise<number> {
    return eventually(() => {
      const found = childOf(this.#service.pid, 'events');
      if (found === null) throw new Error('no process writes events');
      return found;
    }, WRITER_LIMIT_MS);
  }

  async kill(): Promise<void> {
    const writer = childOf(this.#service.pid, 'events');
    if (writer !== null) process.kill(writer, 'SIGKILL');
    await this.#service.kill('SIGKILL');
  }

  async start(): Promise<void> {
    await this.#service.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service[Symbol.asyncDispose]();
  }
}

/** The child of a server with that role. */
function childOf(server: number, role: string): number | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
      if (Number(parent) === server && command.includes('child') && command.includes(role))
        return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

/** A store that is wrong in that way. */
export async function startCarelessEvents(mode: 'unsynced' | 'early'): Promise<EventSubject> {
  const subject = new Careless(mode);
  await subject.start();
  return subject;
}

class Careless implements EventSubject {
  readonly stateDir: string;
  readonly starter = null;
  readonly #mode: string;
  #process: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null;
  #url = '';

  constructor(mode: string) {
    this.#mode = mode;
    this.stateDir = mkdtempSync(join(tmpdir(), 'careless-events-'));
    mkdirSync(this.stateDir, { recursive: true });
  }

  async send(data: string): Promise<number> {
    const body = JSON.stringify({ data });
    return (await fetch(`${this.#url}api/events/`, { method: 'POST', body })).status;
  }

  async writer(): Promise<number> {
    return this.#process!.pid;
  }

  async kill(): Promise<void> {
    this.#process!.kill('SIGKILL');
    await this.#process!.exited;
  }

  async start(): Promise<void> {
    const program = join(import.meta.dir, 'careless-events.ts');
    this.#process = Bun.spawn([process.execPath, program, this.stateDir, this.#mode], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const { value } = await this.#process.stdout.getReader().read();
    this.#url = Buffer.from(value ?? [])
      .toString()
      .trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
