/**
 * Reads every dataset in the background when it appears and changes, so that broken files are known and typed copies
 * exist before the first request.
 */
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isStopping } from '../../processes/child-supply.ts';
import { Turn } from '../../processes/turn.ts';
import type { Registry, RegistryChange, Resource } from '../registry/registry.ts';

interface FirstReadsOptions {
  readonly read: (resource: Resource, turn: Turn) => Promise<void>;
  readonly log: Log;
}

export class FirstReads {
  readonly #options: FirstReadsOptions;
  readonly #waiting = new Map<string, Resource>();
  readonly #reading = new Set<Promise<void>>();
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: FirstReadsOptions) {
    this.#options = options;
  }

  /** Call it before the first scan of the registry. */
  follow(registry: Registry): void {
    registry.onChange((change) => this.#note(change));
  }

  async idle(): Promise<void> {
    while (this.#running || this.#reading.size > 0)
      await Promise.all([this.#running, ...this.#reading]);
  }

  /** Does not wait for the read that is running. */
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
      // Added during the last read.
      this.#start();
    });
  }

  async #run(): Promise<void> {
    for (const [key, resource] of this.#waiting) {
      this.#waiting.delete(key);
      // An up-to-date copy costs about a millisecond without any wait: let requests run.
      await setImmediate();
      if (this.#isClosed) return;
      const turn = Turn.background();
      const reading = this.#read(resource, turn).finally(() => this.#reading.delete(reading));
      this.#reading.add(reading);
      await Promise.race([reading, turn.long]);
    }
  }

  async #read(resource: Resource, turn: Turn): Promise<void> {
    try {
      await this.#options.read(resource, turn);
    } catch (error) {
      // A broken or vanished file is no failure here: the registry holds its problem.
      if (error instanceof AppError && error.status < 500) return;
      if (isStopping(error)) return this.close();
      this.#options.log.warning('a dataset could not be read ahead', {
        resource: resource.rel,
        error,
      });
    }
  }
}

function keyOf({ rel, sheet }: Pick<Resource, 'rel' | 'sheet'>): string {
  return sheet === null ? rel : `${rel}\n${sheet}`;
}
