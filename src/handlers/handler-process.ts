import { AppError } from '../base/errors.ts';
import { Mutex } from '../base/scheduling/semaphore.ts';
import type { ChildProcess } from '../processes/child-process.ts';
import { callRouter, type HandlerRequest } from './handler-call.ts';
import type { HostState, LoadResult, RouterSchema } from './host-protocol.ts';

/** Longer than the host's own limit for a module's top-level await, so that only a blocked host exceeds it. */
const LOAD_LIMIT_MS = 12_000;
const COMMAND_LIMIT_MS = 5_000;
/** A broken connection is the first sign of an end that the system reports a moment later. */
const EXIT_LIMIT_MS = 500;

interface Call {
  readonly rel: string;
  isStreaming: boolean;
}

interface ProcessWatcher {
  onTimeout(): void;
  onProgress(): void;
}

/** Exists only after it answered its first ping. */
export class HandlerProcess {
  readonly child: ChildProcess;
  readonly startedAt = performance.now();
  isResponsive = true;
  /** When it was replaced, on `performance.now()`; null while in use. */
  retiredAt: number | null = null;
  readonly #watcher: ProcessWatcher;
  readonly #loads = new Mutex();
  readonly #results = new Map<string, LoadResult>();
  readonly #loading = new Map<string, Promise<LoadResult>>();
  readonly #calls = new Set<Call>();
  #loadingNow: string | null = null;

  constructor(child: ChildProcess, watcher: ProcessWatcher) {
    this.child = child;
    this.#watcher = watcher;
  }

  /** Also the file during whose load the process broke. */
  get loadingNow(): string | null {
    return this.#loadingNow;
  }

  forgive(): void {
    this.#loadingNow = null;
  }

  /** Files with calls in progress, latest first: the most likely culprit of a hang. */
  get busyWith(): string[] {
    return [...new Set([...this.#calls].reverse().map(({ rel }) => rel))];
  }

  get waiting(): number {
    return [...this.#calls].filter(({ isStreaming }) => !isStreaming).length;
  }

  get streams(): number {
    return this.#calls.size - this.waiting;
  }

  /** The old code answers meanwhile. Rejects when the process does not answer. */
  load(rel: string): Promise<LoadResult> {
    const loading = this.#loads.run(async () => {
      // Kept after a failure, so that later files are not blamed.
      if (this.#loadingNow !== null) throw new Error('the process broke while it loaded a file');
      this.#loadingNow = rel;
      const result = await this.#command<LoadResult>('load', rel, LOAD_LIMIT_MS);
      this.#results.set(rel, result);
      this.#loadingNow = null;
      return result;
    });
    this.#loading.set(rel, loading);
    loading.catch(() => {}).finally(() => this.#forgetLoading(rel, loading));
    return loading;
  }

  refuse(rel: string, problem: string): void {
    this.#results.set(rel, { problem, modules: [rel] });
  }

  async unload(rel: string): Promise<void> {
    this.#results.delete(rel);
    await this.#loads.run(() => this.#command('unload', rel, COMMAND_LIMIT_MS));
  }

  async loaded(rel: string): Promise<LoadResult | null> {
    return this.#results.get(rel) ?? (await this.#loading.get(rel)) ?? null;
  }

  async call(request: HandlerRequest, timeoutMs: number): Promise<Response> {
    const call: Call = { rel: request.rel, isStreaming: false };
    this.#calls.add(call);
    const answer = callRouter(this.child, request, timeoutMs, {
      onStream: () => {
        call.isStreaming = true;
        this.#watcher.onProgress();
      },
      onEnd: () => {
        this.#calls.delete(call);
        this.#watcher.onProgress();
      },
      onTimeout: () => this.#watcher.onTimeout(),
    });
    try {
      return await answer;
    } catch (error) {
      // A caller who retries after a crash must find it noticed.
      const isCrash = error instanceof AppError && error.code === 'handler-failed';
      if (isCrash) await Promise.race([this.child.exited, Bun.sleep(EXIT_LIMIT_MS)]);
      throw error;
    }
  }

  schema(rel: string): Promise<RouterSchema> {
    return this.#command<RouterSchema>('schema', rel, COMMAND_LIMIT_MS);
  }

  /** Milliseconds since the oldest running request was given up; 0 for none. */
  async abandonedMs(): Promise<number> {
    const response = await this.child.fetch('/state', {
      signal: AbortSignal.timeout(COMMAND_LIMIT_MS),
    });
    return ((await response.json()) as HostState).abandonedMs;
  }

  async #command<T>(name: string, rel: string, timeoutMs: number): Promise<T> {
    const response = await this.child.fetch(`/${name}`, {
      method: 'POST',
      body: JSON.stringify({ rel }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 204) return undefined as T;
    if (response.ok) return (await response.json()) as T;
    throw new AppError('internal', `The host of handlers did not ${name} a file`);
  }

  #forgetLoading(rel: string, loading: Promise<LoadResult>): void {
    if (this.#loading.get(rel) === loading) this.#loading.delete(rel);
  }
}
