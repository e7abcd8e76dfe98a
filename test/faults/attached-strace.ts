/**
 * strace on a process that runs already: its calls from now on are traced, made to fail, or made to kill it.
 *
 * `when=n` in an injection counts the calls of each thread for itself, from the moment of attaching.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortId } from '../../src/base/ids.ts';

interface AttachOptions {
  /** `call:signal=SIGKILL:when=2`, `call:error=EIO`; each call is traced too. */
  readonly injections?: readonly string[];
  /** Further calls to trace. */
  readonly calls?: readonly string[];
  /** Only calls about one of these files. */
  readonly paths?: readonly string[];
  /** `disk`: only the threads in which the runtime does asynchronous file work. */
  readonly threads?: 'all' | 'disk';
}

const DISK_THREAD = 'Bun Pool';

/** A running strace; disposing it lets go of the process, which goes on. */
export class AttachedStrace implements AsyncDisposable {
  readonly #process: Bun.Subprocess<'ignore', 'ignore', 'pipe'>;
  readonly #output: string;

  private constructor(process: Bun.Subprocess<'ignore', 'ignore', 'pipe'>, output: string) {
    this.#process = process;
    this.#output = output;
  }

  /** Resolves when the process is traced. Throws with strace's words when it cannot be. */
  static async attach(pid: number, options: AttachOptions): Promise<AttachedStrace> {
    const { injections = [], calls = [], paths = [], threads = 'all' } = options;
    const output = join(tmpdir(), `svc-trace-${shortId()}`);
    const traced = [...new Set([...injections.map((text) => text.split(':')[0]!), ...calls])];
    const process = Bun.spawn(
      [
        'strace',
        ...['-y', '-s', '60', '-o', output, '-e', `trace=${traced.join(',')}`],
        ...injections.flatMap((injection) => ['-e', `inject=${injection}`]),
        ...paths.flatMap((path) => ['-P', path]),
        ...(threads === 'all' ? ['-f', '-p', `${pid}`] : diskThreads(pid)),
      ],
      { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    );
    const strace = new AttachedStrace(process, output);
    await strace.#attached(threads === 'all' ? 1 : diskThreads(pid).length / 2);
    return strace;
  }

  /** Everything traced so far. */
  text(): string {
    return readFileSync(this.#output, 'utf8');
  }

  /** The traced calls, those that another thread interrupted put together again, in the order in which they ended. */
  finishedCalls(): string[] {
    const open = new Map<string, string>();
    const finished: string[] = [];
    for (const line of this.text().split('\n')) {
      const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
      const end = text.indexOf(' <unfinished ...>');
      if (end >= 0) {
        open.set(thread, text.slice(0, end));
        continue;
      }
      const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
      if (resumed !== null) finished.push(`${open.get(thread) ?? ''}${resumed[1]}`);
      else if (/^\w+\(/.test(text)) finished.push(text);
    }
    return finished;
  }

  /** The call that was entered and never ended: where the process was killed. Empty when there is none. */
  lastCall(): string {
    return this.finishedCalls().findLast((call) => call.endsWith('= ?')) ?? '';
  }

  /** Resolves when the traced process has ended. */
  async ended(): Promise<void> {
    await this.#process.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.#process.exited;
    rmSync(this.#output, { force: true });
  }

  async #attached(expected: number): Promise<void> {
    const reader = this.#process.stderr.getReader();
    let text = '';
    for (;;) {
      if ((text.match(/ attached/g)?.length ?? 0) >= expected) break;
      const { done, value } = await reader.read();
      if (done) throw new Error(`strace did not attach: ${text}`);
      text += Buffer.from(value).toString();
    }
    // Later words are of no interest, but a full pipe would stop strace.
    void (async () => {
      while (!(await reader.read()).done);
    })();
  }
}

function diskThreads(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`).filter((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').startsWith(DISK_THREAD),
  );
  return threads.flatMap((thread) => ['-p', thread]);
}
