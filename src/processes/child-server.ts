/**
 * The child's side: named jobs over HTTP on a unix socket.
 *
 * The process ends with its parent, ignores the terminal's signals (the parent drains first and then kills), is the
 * first victim when the machine runs out of memory, and freezes Object.prototype.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { streamOfChunks } from '../base/scheduling/chunk-stream.ts';
import { failureResponse } from './child-error.ts';
import { MAY_BE_SILENT } from './child-sockets.ts';
import { openLibc } from '../base/files/libc.ts';

/** Built-in job: whether the process is idle. */
export const PING = 'ping';
export const PING_IDLE = 'idle';
const PING_BUSY = 'busy';
/** Built-in job: what broke the last streamed body, once; 404 when nothing did. */
export const BREAKAGE = 'breakage';

/** Produced before their head is sent, so that an error in them can fail the job. */
const SHORT_BYTES = 256 * 1024;

/**
 * `body` is a JSON value, or bytes sent as `BINARY`. `signal`: the caller went away. A streamed body must be pulled,
 * so that a slow reader slows the producer down. An error thrown during streaming reaches the reader in the parent.
 */
type ChildJob = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

/** By name; a leading slash is ignored. */
export type ChildJobs = Readonly<Record<string, ChildJob>>;

interface ChildServerOptions {
  /** Any length: on Linux the runtime shortens it through /proc. */
  readonly socketPath: string;
  readonly jobs: ChildJobs;
}

/** Resolves when the parent has ended; then exit the process. */
export async function serveChild(options: ChildServerOptions): Promise<void> {
  const jobs = new Map(Object.entries(options.jobs).map(([name, job]) => [jobName(name), job]));
  let running = 0;
  let breakage: { error: unknown } | null = null;
  const onBreakage = (error: unknown): void => {
    breakage = { error };
  };
  const served = serveOnSocket(options.socketPath, async (request) => {
    const name = jobName(new URL(request.url).pathname);
    if (name === PING) return new Response(running === 0 ? PING_IDLE : PING_BUSY);
    if (name === BREAKAGE) {
      const last = breakage;
      breakage = null;
      return last === null ? new Response(null, { status: 404 }) : failureResponse(last.error);
    }
    running += 1;
    try {
      const job = jobs.get(name);
      if (job === undefined) throw new Error(`This child has no job named ${name}`);
      return await settled(await job(await bodyOf(request), request.signal), onBreakage);
    } catch (error) {
      return failureResponse(error);
    } finally {
      running -= 1;
    }
  });
  freezeObjectPrototype();
  await served;
}

/** Until the parent has ended. */
export async function serveOnSocket(
  path: string,
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const gone = parentGone();
  volunteerForOutOfMemory();
  const umask = process.umask(0o177);
  Bun.serve({
    unix: path,
    development: false,
    // Every sender has limits of its own; the runtime's default is 128 MiB.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    ...MAY_BE_SILENT,
    fetch,
  });
  process.umask(umask);
  await gone;
  rmSync(path, { force: true });
}

/** Media type of a body that is not JSON. */
export const BINARY = 'application/octet-stream';

function bodyOf(request: Request): Promise<unknown> {
  return request.headers.get('content-type') === BINARY ? request.bytes() : request.json();
}

/** The same on both sides of the socket. */
export function jobName(path: string): string {
  return path.startsWith('/') ? path.slice(1) : path;
}

/**
 * A short response goes in one piece. A body that fails early fails the job; a later error goes to `onBreakage`,
 * because HTTP cannot report it after the head.
 */
async function settled(
  response: Response,
  onBreakage: (error: unknown) => void,
): Promise<Response> {
  if (response.body === null || response.headers.has('content-length')) return response;
  const reader = response.body.getReader();
  const head: Uint8Array[] = [];
  for (let bytes = 0; bytes < SHORT_BYTES;) {
    const { done, value } = await reader.read();
    if (done) return new Response(head.length === 1 ? head[0] : Buffer.concat(head), response);
    head.push(value);
    bytes += value.byteLength;
  }
  const next = async () => {
    try {
      const early = head.shift();
      return early ? { value: early } : await reader.read();
    } catch (error) {
      onBreakage(error);
      throw error;
    }
  };
  const body = streamOfChunks({ next }, (left) => left && reader.cancel(left.reason));
  return new Response(body, response);
}

function volunteerForOutOfMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Not Linux, or not permitted: the system chooses the victim.
  }
}

/**
 * So that a parser which writes to `target['__proto__'][key]` fails instead of giving every object a new property.
 *
 * Freezing alone would break correct code: assigning to an inherited read-only property throws, and the runtime's own
 * modules assign `prototype.constructor` when they load. So each inherited property becomes a getter whose setter
 * defines the property on the target. Irreversible; no measurable cost.
 */
function freezeObjectPrototype(): void {
  const prototype = Object.prototype;
  for (const name of Reflect.ownKeys(prototype)) {
    const { value, configurable } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    if (value === undefined || configurable !== true) continue;
    Object.defineProperty(prototype, name, {
      get: () => value,
      set(this: object, own: unknown) {
        if (this === prototype) throw new TypeError('Object.prototype is frozen');
        const attributes = { writable: true, enumerable: true, configurable: true };
        Object.defineProperty(this, name, { value: own, ...attributes });
      },
      enumerable: false,
      configurable: false,
    });
  }
  Object.freeze(prototype);
}

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * Resolves when the parent has ended.
 *
 * On Linux the kernel kills the child then, even in an endless native call (prctl(2), PR_SET_PDEATHSIG); everywhere
 * the end of standard input, a pipe only the parent holds open, ends a child that returns to its event loop.
 */
async function parentGone(): Promise<void> {
  if (process.platform === 'linux') askKernel();
  try {
    for await (const _ of Bun.stdin.stream());
  } catch {
    // Unreadable standard input means the same as closed.
  }
}

/** Another C library relies on standard input. */
function askKernel(): void {
  const libc = openLibc({
    prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' },
  });
  libc?.symbols.prctl(PR_SET_PDEATHSIG, BigInt(SIGKILL), 0n, 0n, 0n);
}
