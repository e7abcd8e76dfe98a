/**
 * The bounded room before the writer (EV-50), shared out by credential: bytes of bodies from the moment they are received and
 * decompressed, events from the moment they are counted, both until the answer.
 *
 * A body takes its room piece by piece while it comes in, so that no number of bodies, compressed or not, holds more than
 * the room; only one that has it all to itself may be larger.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';

/** How much there is, and how long a request waits for it. */
export interface RoomLimits {
  readonly events: number;
  readonly bytes: number;
  readonly waitMs: number;
}

/** Parts of the room. */
interface Share {
  readonly events: number;
  readonly bytes: number;
}

interface RoomOptions {
  readonly limits: () => RoomLimits;
  readonly clock: Clock;
  /** When a request that found no room is to come back. */
  readonly retrySeconds: () => number;
}

const ROOM_FULL = 'Event queue is full.';

/** All the room, and who holds it. */
export class QueueRoom {
  readonly #options: RoomOptions;
  readonly #heldBy = new Map<string, Share>();
  #held: Share = { events: 0, bytes: 0 };
  #waiting: (() => void)[] = [];

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  get held(): Share {
    return this.#held;
  }

  /** An empty place for a request of that credential. It must be left. */
  place(holder: string): QueuePlace {
    return new QueuePlace(this, holder);
  }

  /** Whether so much could be had at once. */
  fits(more: Share, own: Share = { events: 0, bytes: 0 }): boolean {
    const { events, bytes } = this.#held;
    if (events === own.events && bytes === own.bytes) return true;
    const limits = this.#options.limits();
    return events + more.events <= limits.events && bytes + more.bytes <= limits.bytes;
  }

  /**
   * Resolves with the milliseconds it waited once the room is had. Throws `throttled` when the holder has more than half of
   * all, `unavailable` when there was none for long enough; `waitedMs`: what the request has waited already.
   */
  async take(holder: string, more: Share, own: Share, waitedMs: number): Promise<number> {
    const { clock, limits, retrySeconds } = this.#options;
    const startedAt = clock.monotonic();
    while (!this.fits(more, own)) {
      if (this.#holdsMost(holder)) throw throttled(1);
      const left = limits().waitMs - waitedMs - (clock.monotonic() - startedAt);
      if (left <= 0) throw unavailable(ROOM_FULL, retrySeconds());
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await Promise.race([promise, Bun.sleep(left)]);
    }
    this.#add(holder, more);
    return clock.monotonic() - startedAt;
  }

  /** Takes room back from a holder, and wakes who waits for it. */
  free(holder: string, { events, bytes }: Share): void {
    this.#add(holder, { events: -events, bytes: -bytes });
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #holdsMost(holder: string): boolean {
    const { events, bytes } = this.#heldBy.get(holder) ?? { events: 0, bytes: 0 };
    const limits = this.#options.limits();
    return events > limits.events / 2 || bytes > limits.bytes / 2;
  }

  #add(holder: string, more: Share): void {
    this.#held = sum(this.#held, more);
    const held = sum(this.#heldBy.get(holder) ?? { events: 0, bytes: 0 }, more);
    if (held.events > 0 || held.bytes > 0) this.#heldBy.set(holder, held);
    else this.#heldBy.delete(holder);
  }
}

/** What one request holds of the room. */
export class QueuePlace implements Disposable {
  readonly #room: QueueRoom;
  readonly #holder: string;
  #own: Share = { events: 0, bytes: 0 };
  #waitedMs = 0;

  constructor(room: QueueRoom, holder: string) {
    this.#room = room;
    this.#holder = holder;
  }

  /** Bytes it holds. */
  get bytes(): number {
    return this.#own.bytes;
  }

  /** Resolves when so much more is had. Throws `throttled`, `unavailable`, both with Retry-After. */
  async take(more: Partial<Share>): Promise<void> {
    const wanted = { events: more.events ?? 0, bytes: more.bytes ?? 0 };
    if (wanted.events === 0 && wanted.bytes === 0) return;
    this.#waitedMs += await this.#room.take(this.#holder, wanted, this.#own, this.#waitedMs);
    this.#own = sum(this.#own, wanted);
  }

  /** Gives bytes back that it needs no longer. */
  give(bytes: number): void {
    if (bytes === 0) return;
    this.#room.free(this.#holder, { events: 0, bytes });
    this.#own = sum(this.#own, { events: 0, bytes: -bytes });
  }

  /** As `give`, once a reading that cannot be stopped has ended: until then it holds what it reads. */
  giveAfter(bytes: number, reading: Promise<unknown>): void {
    this.#own = sum(this.#own, { events: 0, bytes: -bytes });
    const free = (): void => this.#room.free(this.#holder, { events: 0, bytes });
    void reading.then(free, free);
  }

  /** Gives everything back; once is enough. */
  leave(): void {
    const { events, bytes } = this.#own;
    if (events === 0 && bytes === 0) return;
    this.#own = { events: 0, bytes: 0 };
    this.#room.free(this.#holder, { events, bytes });
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}

function sum(a: Share, b: Share): Share {
  return { events: a.events + b.events, bytes: a.bytes + b.bytes };
}

/** 503 with the moment to come back. */
export function unavailable(message: string, seconds: number, cause?: unknown): AppError {
  return new AppError('unavailable', message, {
    headers: { 'Retry-After': String(seconds) },
    cause,
  });
}

/** 429 of EV-14. */
export function throttled(seconds: number): AppError {
  const unit = seconds === 1 ? 'second' : 'seconds';
  return new AppError(
    'throttled',
    `Request was throttled. Expected available in ${seconds} ${unit}.`,
    {
      headers: { 'Retry-After': String(seconds) },
    },
  );
}
