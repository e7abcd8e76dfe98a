/**
 * The child's side of a supervised child process: named jobs answered over HTTP on a unix socket (architecture 4.4).
 *
 * The socket is owner-only from its first moment (DS-169). The process ends with its parent, ignores the terminal's
 * signals (the parent drains first and then kills), is the first to go when the machine runs out of memory, and has
 * nothing to pollute: Object.prototype is frozen.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { failureResponse } from './child-error.ts';
import { freezeObjectPrototype } from './frozen-prototype.ts';
import { parentGone } from './parent-death.ts';
import { MAY_BE_SILENT } from './silent-socket.ts';

/** Built-in: tells whether this process is free. */
export const PING = 'ping';
/** Answer of a free child to a ping. */
export const PING_IDLE = 'idle';
const PING_BUSY = 'busy';
/** Built-in: what broke the last streamed body, once; 404 when nothing did. */
export const BREAKAGE = 'breakage';

/** A body up to here is produced before its head is sent, so that an error in it can still be told as such. */
const SHORT_BYTES = 256 * 1024;

/**
 * One kind of work. `body` is a JSON value, or the bytes of a body sent as `BINARY`. `signal` is aborted when the caller went
 * away. The response may stream; the body must then be pulled (`ReadableStream` with `pull`, or an async generator), so that
 * a slow reader slows the producer down. An error thrown while the body streams reaches the reader in the parent as if the
 * job had thrown it.
 */
type ChildJob = (body: unknown, signal: AbortSignal) => Response | Promise<Response>;

/** Jobs by name; a leading slash in a name means nothing. */
export type ChildJobs = Readonly<Record<string, ChildJob>>;

/** Where a child listens and what it can do. */
interface ChildServerOptions {
  /** Path of the socket; any length, the runtime shortens it through /proc on Linux. */
  readonly socketPath: string;
  readonly jobs: ChildJobs;
}

/**
 * Serves jobs until the parent has ended, then resolves; the process must be ended then. Libraries may be loaded lazily,
 * also after this.
 */
export async function serveChild(options: ChildServerOptions): Promise<void> {
  const jobs = new Map(Object.entries(options.jobs).map(([name, job]) => [jobName(name), job]));
  let running = 0;
  let breakage: { error: unknown } | null = null;
  const onBreakage = (error: unknown): void => {
    breakage = { error };
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const gone = parentGone();
  volunteerForOutOfMemory();
  freezeObjectPrototype();

  const umask = process.umask(0o177);
  Bun.serve({
    unix: options.socketPath,
    development: false,
    ...MAY_BE_SILENT,
    async fetch(request) {
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
    },
  });
  process.umask(umask);
  await gone;
  rmSync(options.socketPath, { force: true });
}

/** Media type of a body that is no JSON. */
export const BINARY = 'application/octet-stream';

function bodyOf(request: Request): Promise<unknown> {
  return request.headers.get('content-type') === BINARY ? request.bytes() : request.json();
}

/** The one spelling of a job's name, on both sides of the socket. */
export function jobName(path: string): string {
  return path.startsWith('/') ? path.slice(1) : path;
}

/**
 * The same response, a short one in one piece and with its length. A body that fails early fails the job itself; what a
 * long one throws later is told to `onBreakage`, because HTTP cannot tell it once the head is sent.
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
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const early = head.shift();
          const { done, value } = early ? { done: false, value: early } : await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onBreakage(error);
          throw error;
        }
      },
      cancel: (reason: unknown) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}

function volunteerForOutOfMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Not Linux, or not permitted: the order of victims is then the system's.
  }
}
