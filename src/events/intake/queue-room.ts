/**
 * The bounded room before the writer, shared between credentials: bytes of bodies from their arrival or
 * decompression, events once counted, both until the answer.
 *
 * A body takes room piece by piece as it arrives, so bodies together never exceed the room; only one that has it all
 * to itself may be larger. What of it does not fit into memory goes to a file.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { SpoolFile } from '../../base/files/spool-file.ts';
import { release } from '../../base/scheduling/garbage-collection.ts';
import { NOT_WRITABLE } from '../store/writer-jobs.ts';

/** Total, and how long a request waits for room. */
export interface RoomLimits {
  readonly events: number;
  readonly bytes: number;
  readonly waitMs: number;
}

interface Share {
  readonly events: number;
  readonly bytes: number;
}

interface RoomOptions {
  readonly limits: () => RoomLimits;
  readonly clock: Clock;
  readonly retrySeconds: () => number;
  /** For what does not fit into memory. */
  readonly folder: string;
  /** Throws `unavailable` when the disk is full. */
  readonly requireDisk: () => void;
}

const ROOM_FULL = 'Event queue is full.';

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

  /** Starts empty. Must be left. */
  place(holder: string): QueuePlace {
    return new QueuePlace(this, holder);
  }

  fits(more: Share, own: Share = { events: 0, bytes: 0 }): boolean {
    const { events, bytes } = this.#held;
    if (events === own.events && bytes === own.bytes) return true;
    const limits = this.#options.limits();
    return events + more.events <= limits.events && bytes + more.bytes <= limits.bytes;
  }

  /**
   * Resolves with the milliseconds waited. Throws `throttled` when the holder has more than half of the total and
   * this is not its only request, `unavailable` when no room came free in time; `waitedMs`: time the request has
   * waited before.
   */
  async take(holder: string, more: Share, own: Share, waitedMs: number): Promise<number> {
    const { clock, limits, retrySeconds } = this.#options;
    const startedAt = clock.monotonic();
    for (;;) {
      const fits = this.fits(more, own);
      // A single request may have all; several of one credential leave half to others.
      if (this.#holdsMost(holder) && (!fits || this.#holdsMore(holder, own))) throw throttled(1);
      if (fits) break;
      const left = limits().waitMs - waitedMs - (clock.monotonic() - startedAt);
      if (left <= 0) throw unavailable(ROOM_FULL, retrySeconds());
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await Promise.race([promise, Bun.sleep(left)]);
    }
    this.#add(holder, more);
    return clock.monotonic() - startedAt;
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** Throws `unavailable`. */
  requireDisk(): void {
    this.#options.requireDisk();
  }

  free(holder: string, { events, bytes }: Share): void {
    this.#add(holder, { events: -events, bytes: -bytes });
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #holdsMost(holder: string): boolean {
    const { events, bytes } = this.#heldBy.get(holder) ?? { events: 0, bytes: 0 };
    const limits = this.#options.limits();
    return events > limits.events / 2 || bytes > limits.bytes / 2;
  }

  #holdsMore(holder: string, own: Share): boolean {
    const { events, bytes } = this.#heldBy.get(holder) ?? own;
    return events > own.events || bytes > own.bytes;
  }

  #add(holder: string, more: Share): void {
    this.#held = sum(this.#held, more);
    const held = sum(this.#heldBy.get(holder) ?? { events: 0, bytes: 0 }, more);
    if (held.events > 0 || held.bytes > 0) this.#heldBy.set(holder, held);
    else this.#heldBy.delete(holder);
  }
}

export class QueuePlace implements Disposable {
  readonly #room: QueueRoom;
  readonly #holder: string;
  #own: Share = { events: 0, bytes: 0 };
  #waitedMs = 0;
  #file: SpoolFile | null = null;

  constructor(room: QueueRoom, holder: string) {
    this.#room = room;
    this.#holder = holder;
  }

  get bytes(): number {
    return this.#own.bytes;
  }

  /** Throws `throttled`, `unavailable`, both with Retry-After. */
  async take(more: Partial<Share>): Promise<void> {
    const wanted = { events: more.events ?? 0, bytes: more.bytes ?? 0 };
    if (wanted.events === 0 && wanted.bytes === 0) return;
    this.#waitedMs += await this.#room.take(this.#holder, wanted, this.#own, this.#waitedMs);
    this.#own = sum(this.#own, wanted);
  }

  /** What was put on disk; it is gone when the place is left. */
  get file(): SpoolFile | null {
    return this.#file;
  }

  /** The file, which goes on when the place is left. */
  takeFile(): SpoolFile {
    const file = this.#file!;
    this.#file = null;
    return file;
  }

  /** Adds to the file. The bytes must not be used any more. Throws `unavailable`. */
  async spool(bytes: Uint8Array): Promise<void> {
    this.#room.requireDisk();
    try {
      this.#file ??= new SpoolFile(this.#room.folder);
      await this.#file.add(bytes);
    } catch (error) {
      throw unavailable(NOT_WRITABLE, 5, error);
    }
    release(bytes);
  }

  give(bytes: number): void {
    if (bytes === 0) return;
    this.#room.free(this.#holder, { events: 0, bytes });
    this.#own = sum(this.#own, { events: 0, bytes: -bytes });
  }

  /** As `give`, after a reading that cannot be stopped: it holds its memory until then. */
  giveAfter(bytes: number, reading: Promise<unknown>): void {
    this.#own = sum(this.#own, { events: 0, bytes: -bytes });
    const free = (): void => this.#room.free(this.#holder, { events: 0, bytes });
    void reading.then(free, free);
  }

  /** Gives everything back; further calls do nothing. */
  leave(): void {
    this.#file?.[Symbol.dispose]();
    this.#file = null;
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

export function unavailable(message: string, seconds: number, cause?: unknown): AppError {
  return new AppError('unavailable', message, {
    headers: { 'Retry-After': String(seconds) },
    cause,
  });
}

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
