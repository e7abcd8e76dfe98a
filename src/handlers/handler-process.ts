/**
 * One process that hosts handlers: the files loaded into it and the calls it is working on.
 */
import { AppError } from '../base/errors.ts';
import { Mutex } from '../base/semaphore.ts';
import type { ChildProcess } from '../children/child-process.ts';
import { callRouter, type HandlerRequest } from './handler-call.ts';
import type { HostState, LoadResult, RouterSchema } from './host-protocol.ts';

/** Longer than the host's own limit for a module that waits, so that only a blocked host passes it. */
const LOAD_LIMIT_MS = 12_000;
const COMMAND_LIMIT_MS = 5_000;
/** A broken connection is the first sign of an end that the system reports a moment later. */
const EXIT_LIMIT_MS = 500;

interface Call {
  readonly rel: string;
  isStreaming: boolean;
}

/** What its supervisor hears of. */
interface ProcessWatcher {
  /** A call got no answer in time. */
  onTimeout(): void;
  /** A call ended or began to stream. */
  onProgress(): void;
}

/** A process that has answered its first ping. */
export class HandlerProcess {
  readonly child: ChildProcess;
  readonly startedAt = performance.now();
  /** Whether it answered the last ping. */
  isResponsive = true;
  /** When it was replaced, on `performance.now()`; null while it is in use. */
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

  /** The file that is being loaded at this moment, or with whose loading the process broke. */
  get loadingNow(): string | null {
    return this.#loadingNow;
  }

  /** The process has shown to be well after a failed load. */
  forgive(): void {
    this.#loadingNow = null;
  }

  /** Files with calls in progress, the last to begin first: the most likely culprit when the process stands still. */
  get busyWith(): string[] {
    return [...new Set([...this.#calls].reverse().map(({ rel }) => rel))];
  }

  /** Calls that wait for the head of their answer. */
  get waiting(): number {
    return [...this.#calls].filter(({ isStreaming }) => !isStreaming).length;
  }

  get streams(): number {
    return this.#calls.size - this.waiting;
  }

  /** Loads a file, or loads it anew; its old code answers meanwhile. Rejects when the process cannot tell. */
  load(rel: string): Promise<LoadResult> {
    const loading = this.#loads.run(async () => {
      // Left as it is by a failure, so that those who come after it are not blamed.
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

  /** Notes why a file is not even tried. */
  refuse(rel: string, problem: string): void {
    this.#results.set(rel, { problem, modules: [rel] });
  }

  async unload(rel: string): Promise<void> {
    this.#results.delete(rel);
    await this.#loads.run(() => this.#command('unload', rel, COMMAND_LIMIT_MS));
  }

  /** What loading gave, at once when it is known. */
  async loaded(rel: string): Promise<LoadResult | null> {
    return this.#results.get(rel) ?? (await this.#loading.get(rel)) ?? null;
  }

  /** See `callRouter`. */
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
      // Whoever hears of a crash and asks again must find it noticed.
      const isCrash = error instanceof AppError && error.code === 'handler-failed';
      if (isCrash) await Promise.race([this.child.exited, Bun.sleep(EXIT_LIMIT_MS)]);
      throw error;
    }
  }

  schema(rel: string): Promise<RouterSchema> {
    return this.#command<RouterSchema>('schema', rel, COMMAND_LIMIT_MS);
  }

  /** Milliseconds since the oldest request that is still worked on was given up; 0 for none. */
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
