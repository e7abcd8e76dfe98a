/**
 * A running `svc serve` as a process: started, read line by line, signalled.
 */
import { environment, program } from './program.ts';

interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** One server process. Disposing it kills it, if it still runs. */
export class ServerProcess {
  readonly out: PrintedLines;
  readonly err: PrintedLines;
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;

  private constructor(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>) {
    this.#child = child;
    this.out = new PrintedLines(child.stdout);
    this.err = new PrintedLines(child.stderr);
  }

  /** Starts `svc <args>`; says nothing about whether it is ready. */
  static start(args: readonly string[], options: StartOptions = {}): ServerProcess {
    return new ServerProcess(
      Bun.spawn([...program, ...args], {
        cwd: options.cwd,
        env: environment(options.env),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    );
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The base URL, once the server says it is ready. */
  async ready(): Promise<string> {
    const line = await this.out.find(/^svc .* at (http\S+)$/);
    return line[1]!;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    await this.#child.exited;
    return this.#child.signalCode ?? this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }
}

/** The lines of a stream, as they come. Each line is found at most once. */
export class PrintedLines {
  /** Everything printed so far. */
  text = '';
  #read = 0;
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.#follow(stream);
  }

  /** The next line that matches; rejects, showing what was printed, when the stream ends without one. */
  async find(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const end = this.text.indexOf('\n', this.#read);
      if (end >= 0) {
        const line = this.text.slice(this.#read, end);
        this.#read = end + 1;
        const match = pattern.exec(line);
        if (match !== null) return match;
      } else if (this.#ended) {
        throw new Error(`no line matches ${pattern} in:\n${this.text}`);
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async #follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.text += decoder.decode(chunk, { stream: true });
      this.#wake?.();
    }
    this.#ended = true;
    this.#wake?.();
  }
}
