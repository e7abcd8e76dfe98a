/**
 * New events as server-sent events, in commit order.
 *
 * All tails share one read of the new events, one folding of their texts and one share of the event loop. Rights are
 * reloaded every few seconds and checked for each event.
 */
import { LoopShare } from '../../base/scheduling/loop-share.ts';
import type { EventRow } from '../event.ts';
import type { Events } from '../events.ts';
import { TailEvent } from './tail-event.ts';
import type { TailOrder } from './tail-stream.ts';
import { TailStream } from './tail-stream.ts';

/** One read for the commits of so long. */
const GATHER_MS = 40;
const READ_EVENTS = 500;
/** Reading the clock for each of millions of offers would cost more than most offers. */
const OFFERS_BETWEEN_LOOKS = 32;
/** Tails with a query examined at a time, so that workers remain for other readers. */
const MAX_LOOKS = 2;
const RETRY_MS = 250;

export class Tails {
  readonly #events: Events;
  readonly #streams = new Set<TailStream>();
  readonly #share = new LoopShare();
  readonly #stopListening: () => void;
  #position = 0;
  #timer: Timer | null = null;
  #isReading = false;
  #newest = 0;
  readonly #looking = new Set<TailStream>();

  constructor(events: Events) {
    this.#events = events;
    this.#stopListening = events.onCommit(() => this.#readLater());
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Null when the user has the maximum. The caller has checked that something may be read. */
  async open(order: TailOrder): Promise<ReadableStream<Uint8Array> | null> {
    const allowed = await order.rights();
    // No await from here on: tails that open at the same time must be counted one by one.
    if (this.#countOf(order.userId) >= order.mostOfUser) return null;
    const newest = this.#events.newestId();
    if (this.#streams.size === 0) this.#position = newest;
    const stream: TailStream = new TailStream(order, allowed, newest, {
      events: this.#events,
      share: this.#share,
      onEnd: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    if (order.lastId !== null || order.backlog > 0) stream.catchUp();
    return stream.body;
  }

  close(): void {
    this.#stopListening();
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const stream of [...this.#streams]) stream.end();
  }

  #countOf(userId: number): number {
    return [...this.#streams].filter((stream) => stream.order.userId === userId).length;
  }

  #readLater(): void {
    if (this.#streams.size === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, GATHER_MS);
    this.#timer.unref();
  }

  async #read(): Promise<void> {
    if (this.#isReading) {
      // Commits may have happened during the read.
      this.#readLater();
      return;
    }
    this.#isReading = true;
    try {
      this.#newest = this.#events.newestId();
      this.#lookOn();
      while (this.#position < this.#newest && this.#streams.size > 0) {
        await this.#share.turn();
        const rows = await this.#events.between(this.#position, this.#newest, READ_EVENTS);
        // Set before the events are offered: a tail opened meanwhile starts after them.
        this.#position = rows.at(-1)?.id ?? this.#newest;
        await this.#offer(rows, [...this.#streams]);
      }
    } catch {
      // Store unreadable: the next commit retries from the same position.
    } finally {
      this.#isReading = false;
    }
  }

  async #offer(rows: readonly EventRow[], streams: readonly TailStream[]): Promise<void> {
    let offers = 0;
    for (const row of rows) {
      const event = new TailEvent(row);
      for (const stream of streams) {
        offers += 1;
        if (event.isLong || offers % OFFERS_BETWEEN_LOOKS === 0) {
          if (this.#share.isOver) await this.#share.turn();
        }
        const slow = stream.offer(event);
        if (slow !== undefined) await slow;
      }
    }
  }

  /** Examines new events for tails with a query that are behind, the longest waiting first. */
  #lookOn(): void {
    for (const stream of this.#streams) {
      if (this.#looking.size >= MAX_LOOKS) return;
      if (stream.wantsLook(this.#newest) && !this.#looking.has(stream)) void this.#look(stream);
    }
  }

  async #look(stream: TailStream): Promise<void> {
    this.#looking.add(stream);
    // Moves it to the end of the order.
    if (this.#streams.delete(stream)) this.#streams.add(stream);
    try {
      await stream.look(this.#newest);
    } catch {
      // No worker free or store unreadable: continues from the same position later.
      await Bun.sleep(RETRY_MS);
    } finally {
      this.#looking.delete(stream);
    }
    this.#lookOn();
  }
}
