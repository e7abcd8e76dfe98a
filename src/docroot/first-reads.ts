/**
 * Reads every dataset once in the background, when it appears and when it changes: so broken files are known before
 * anybody asks (DS-34), and the first request finds the typed copy ready.
 *
 * One file at a time, so that requests always find a free parse worker.
 */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { isStopping } from '../children/child-supply.ts';
import type { Registry, RegistryChange, Resource } from './registry.ts';

interface FirstReadsOptions {
  /** Brings the resource's typed copy up to date; its problems are noted on the way. */
  readonly read: (resource: Resource) => Promise<void>;
  readonly log: Log;
}

/** The queue of datasets still to be read. */
export class FirstReads {
  readonly #options: FirstReadsOptions;
  readonly #waiting = new Map<string, Resource>();
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: FirstReadsOptions) {
    this.#options = options;
  }

  /** Reads what the registry finds from now on; call it before the first scan. */
  follow(registry: Registry): void {
    registry.onChange((change) => this.#note(change));
  }

  /** Resolves when no dataset waits to be read. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Reads nothing more; the read that is running is not waited for. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #note({ added, changed }: RegistryChange): void {
    for (const resource of [...added, ...changed]) {
      if (resource.kind.dataset) this.#waiting.set(keyOf(resource), resource);
    }
    this.#start();
  }

  #start(): void {
    if (this.#isClosed || this.#waiting.size === 0) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // What was noted since the last one was read.
      this.#start();
    });
  }

  async #run(): Promise<void> {
    for (const [key, resource] of this.#waiting) {
      this.#waiting.delete(key);
      // A copy that is good already costs about a millisecond and waits for nothing: give requests their turn.
      await setImmediate();
      if (this.#isClosed) return;
      try {
        await this.#options.read(resource);
      } catch (error) {
        // A broken or vanished file is no failure here: the registry holds its problem.
        if (error instanceof AppError && error.status < 500) continue;
        if (isStopping(error)) return this.close();
        this.#options.log.warning('a dataset could not be read ahead', {
          resource: resource.rel,
          error,
        });
      }
    }
  }
}

function keyOf({ rel, sheet }: Pick<Resource, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}\n${sheet}`;
}
