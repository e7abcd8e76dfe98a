/**
 * When events are sealed: a child makes one part after another, oldest events first, and rests three times as long as it
 * worked. The writer takes each in as one of its orders.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Ingest } from '../intake/writer-queue.ts';
import type { ChildPool } from '../../processes/child-pool.ts';
import type { Sealing as Sealed } from './sealer.ts';

interface SealingOptions {
  readonly stateDir: string;
  readonly children: ChildPool;
  readonly ingest: Pick<Ingest, 'submit' | 'problem'>;
  /** Minutes; 0: never. */
  readonly afterMinutes: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

const FIRST_LOOK_MS = 2_000;
const LOOK_MS = 15_000;
const RETRY_MS = 30_000;
const STEP_LIMIT_MS = 120_000;
/** A quarter of a core at most. */
const REST = 3;
/** Pages of sealed events given back to the disk after a part, at 2 MiB each. */
const RECLAIMED_STEPS = 16;
const MINUTE_MICROS = 60_000_000;
const HOLDER = { events: 0, name: 'sealing' };

export class Sealing {
  readonly #options: SealingOptions;
  #timer: Timer | null = null;
  #isClosing = false;
  #problem: string | null = null;
  #sealed = 0;

  constructor(options: SealingOptions) {
    this.#options = options;
  }

  /** For operators; null while it works or is switched off. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Events since the start. */
  get count(): number {
    return this.#sealed;
  }

  start(): void {
    this.#later(FIRST_LOOK_MS);
  }

  async stop(): Promise<void> {
    this.#isClosing = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#options.children.stop();
  }

  #later(ms: number): void {
    if (this.#isClosing) return;
    this.#timer = setTimeout(() => void this.#next(), ms);
    this.#timer.unref();
  }

  async #next(): Promise<void> {
    const { clock, log, ingest, afterMinutes } = this.#options;
    const startedAt = clock.monotonic();
    let pauseMs = LOOK_MS;
    try {
      if (afterMinutes() === 0) this.#problem = null;
      else if (ingest.problem === null) {
        if (await this.#step(afterMinutes())) pauseMs = REST * (clock.monotonic() - startedAt);
        this.#problem = null;
      }
    } catch (error) {
      pauseMs = RETRY_MS;
      const why = error instanceof AppError ? error.message : 'see the log';
      if (!this.#isClosing && this.#problem === null)
        log.warning('events were not sealed; they stay where they are', { error });
      this.#problem = `events are not sealed: ${why}`;
    }
    this.#later(pauseMs);
  }

  /** False when there is nothing to seal. */
  async #step(minutes: number): Promise<boolean> {
    const { stateDir, children, ingest, clock } = this.#options;
    const now = clock.now() * 1000;
    const response = await children.request(
      'step',
      { stateDir, now, before: now - minutes * MINUTE_MICROS },
      { timeoutMs: STEP_LIMIT_MS },
    );
    const made = (await response.json()) as Sealed | null;
    if (made === null) return false;
    const ids = new Uint8Array(new Float64Array(made.ids).buffer);
    const { result } = await ingest.submit(made.order, ids, HOLDER);
    // What was changed meanwhile is sealed with the next part.
    if (result.problem !== null) return true;
    this.#sealed += made.ids.length;
    for (let step = 0; step < RECLAIMED_STEPS; step++) {
      const { result: reclaimed } = await ingest.submit(
        { kind: 'reclaim' },
        new Uint8Array(),
        HOLDER,
      );
      if (!reclaimed.hasMore) break;
    }
    return true;
  }
}
