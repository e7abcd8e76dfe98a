/**
 * One reader of a live tail: what it has missed, then what comes, in a bounded buffer (EV-78, EV-79).
 *
 * A reader that falls behind loses messages and is told how many; it never holds anything up.
 */
import type { LoopShare } from '../base/loop-share.ts';
import type { Events } from './events.ts';
import type { FilterQuery } from './query-filter.ts';
import { QUERY_PROBLEM_HEADER } from './query-filter.ts';
import { LIST_HEADERS } from './read-jobs.ts';
import type { Selection } from './selection.ts';
import type { TailEvent } from './tail-event.ts';
import { isSelected, tailMessage } from './tail-event.ts';
import { foldedText } from './term.ts';

/** What one tail shows, and to whom. */
export interface TailOrder {
  readonly userId: number;
  /** Tails the user may have at once, this one included. */
  readonly mostOfUser: number;
  readonly selection: Selection;
  /** A query that chooses among events; null for none. */
  readonly query: FilterQuery | null;
  /** Resume behind this id; null: from now on. */
  readonly lastId: number | null;
  /** Earlier matches to send first. */
  readonly backlog: number;
  /** The indexes that may be read now; null once the caller may read none, or is nobody any more. */
  readonly rights: () => Promise<((index: string) => boolean) | null>;
}

const HEARTBEAT_MS = 15_000;
const RIGHTS_MS = 3_000;
/** Looks that fail in a row; then the right counts as lost, and the reader resumes when it can be told again. */
const MAX_FAILED_LOOKS = 2;
const LIFE_MS = 30 * 60_000;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 1024 * 1024;
const MAX_MISSED = 10_000;
/** One piece of the answer: joining and encoding it takes a fraction of a millisecond. */
const MAX_PIECE = 128 * 1024;
/** Characters the server writes in a millisecond. */
const WRITTEN_PER_MS = 256 * 1024;
const ENCODER = new TextEncoder();

/** What a tail works with. */
interface TailTools {
  readonly events: Events;
  readonly share: LoopShare;
  readonly onEnd: () => void;
}

/** One reader. */
export class TailStream {
  readonly order: TailOrder;
  readonly body: ReadableStream<Uint8Array>;
  readonly #tools: TailTools;
  readonly #timers: Timer[];
  readonly #terms: readonly string[];
  /** Newer events are offered; up to this one they were there before. */
  readonly #startsBehind: number;
  #allowed: ((index: string) => boolean) | null;
  #messages: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #catchingUp: AsyncGenerator<string> | null = null;
  /** Of what workers read for it. */
  readonly #stop = new AbortController();
  #wake: (() => void) | null = null;
  #hasEnded = false;
  #failedLooks = 0;
  /** Of a tail with a query: how far it has looked. */
  #looked: number;

  constructor(
    order: TailOrder,
    allowed: ((index: string) => boolean) | null,
    position: number,
    tools: TailTools,
  ) {
    this.order = order;
    this.#terms = order.selection.terms.map(foldedText);
    this.#startsBehind = position;
    this.#looked = position;
    this.#allowed = allowed;
    this.#tools = tools;
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.end() },
      { highWaterMark: 0 },
    );
    this.#timers = [
      setInterval(() => this.#push(': hb\n\n'), HEARTBEAT_MS),
      setInterval(() => void this.#checkRights(), RIGHTS_MS),
      setTimeout(() => {
        this.#push('event: end\ndata: {}\n\n');
        this.end();
      }, LIFE_MS),
    ];
    for (const timer of this.#timers) timer.unref();
    // The head of the answer goes out with the first piece of its body.
    this.#push(': ok\n\n');
  }

  /** Sends what was missed before anything new. */
  catchUp(): void {
    this.#catchingUp = this.#missed();
    this.#wake?.();
  }

  async *#missed(): AsyncGenerator<string> {
    const position = this.#startsBehind;
    const { events } = this.#tools;
    const { selection, lastId, backlog, query } = this.order;
    const most = lastId === null ? backlog : MAX_MISSED;
    if (query !== null) {
      const response = await this.#matching(lastId ?? 0, position, most);
      const left = totalOf(response) - most;
      yield* missedMessages(response, left > 0 ? lastId : null);
      return;
    }
    const order = {
      selection: { ...selection, readable: this.#readable() },
      isDescending: false,
      afterId: null,
      aboveId: lastId,
      highestId: position,
      format: 'ndjson',
    };
    const { signal } = this.#stop;
    const first = { ...order, limit: 1, offset: 0, counts: true };
    const head = await events.request('events-list', first, signal);
    await head.body?.cancel();
    const offset = Math.max(0, totalOf(head) - most);
    const rest = { ...order, limit: most, offset, counts: false };
    const response = await events.request('events-list', rest, signal);
    yield* missedMessages(response, offset > 0 ? lastId : null);
  }

  /** Takes in a new event if it is for this reader; a promise when that takes a while. */
  offer(event: TailEvent): void | Promise<void> {
    const { query, selection } = this.order;
    if (query !== null || this.#hasEnded) return;
    const { row } = event;
    // The reading for all may be behind what was there when this one began.
    if (row.id <= this.#startsBehind) return;
    if (this.#allowed?.(row.index) !== true || !isSelected(row, selection)) return;
    if (this.#terms.length === 0) this.#add(() => event.message);
    else if (event.isLong) return this.#offerLong(event);
    else if (event.hasTerms(this.#terms)) this.#add(() => event.message);
  }

  async #offerLong(event: TailEvent): Promise<void> {
    if (await event.hasTermsInTurns(this.#terms, this.#tools.share)) this.#add(() => event.message);
  }

  /** Whether it has a query and has not looked that far. */
  wantsLook(newest: number): boolean {
    return this.order.query !== null && !this.#hasEnded && this.#looked < newest;
  }

  /** Looks through the new events in a worker: a query may take long. Throws when there is none to be had. */
  async look(newest: number): Promise<void> {
    const response = await this.#matching(this.#looked, newest, MAX_MISSED);
    let left = Math.max(0, totalOf(response) - MAX_MISSED);
    let last = this.#looked;
    for await (const line of linesOf(response)) {
      if (this.#tools.share.isOver) await this.#tools.share.turn();
      // The newest ones only are read.
      this.#dropped += left;
      left = 0;
      const id = idOf(line);
      // What was sent before a look broke off is not sent again.
      if (id > this.#looked) this.#add(() => tailMessage(id, line));
      last = this.#looked = Math.max(last, id);
    }
    this.#looked = newest;
  }

  /** Ends the tail and throws where the query cannot be run to its end: the reader is better off resuming than with a hole. */
  async #matching(aboveId: number, highestId: number, most: number): Promise<Response> {
    const { query, selection } = this.order;
    const readable = this.#readable();
    const order = { selection: { ...selection, readable }, query, aboveId, highestId, most };
    const { signal } = this.#stop;
    const response = await this.#tools.events.request('events-matching', order, signal);
    if (!response.headers.has(QUERY_PROBLEM_HEADER)) return response;
    await response.body?.cancel();
    this.end();
    throw new Error('The query of a tail used up its budget');
  }

  #readable(): string[] {
    return this.#tools.events.indexNames().filter((index) => this.#allowed?.(index) === true);
  }

  /** One message larger than the room for all may still come alone. */
  #add(message: () => string): void {
    const isFull = this.#messages.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
    const text = isFull || this.#dropped > 0 ? null : message();
    if (text !== null && (this.#bytes === 0 || this.#bytes + text.length <= MAX_BYTES)) {
      this.#push(text);
      return;
    }
    this.#dropped += 1;
    this.#wake?.();
  }

  /** Nothing more is taken in; what is in the buffer is still sent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#tools.onEnd();
    // A worker must not wait for a reader that is gone. Both are needed: one for what it waits for, one for what it holds.
    this.#stop.abort();
    if (this.#catchingUp !== null) {
      // It fails with what the worker was stopped with.
      this.#catchingUp.return(undefined).catch(() => undefined);
      // A reader that got them would resume behind what it still misses.
      this.#messages = this.#messages.filter((message) => !message.startsWith('id: '));
      this.#dropped = 0;
    }
    this.#wake?.();
  }

  #push(text: string): void {
    this.#messages.push(text);
    this.#bytes += text.length;
    this.#wake?.();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      // Hundreds of readers are woken by one event.
      await this.#tools.share.turn();
      const text = await this.#next();
      if (text !== null) {
        controller.enqueue(ENCODER.encode(text));
        // The server writes it to the socket after we are gone.
        this.#tools.share.spend(text.length / WRITTEN_PER_MS);
        return;
      }
      if (this.#hasEnded) {
        controller.close();
        return;
      }
      // Something may have come since it was looked: what comes from here on wakes it.
      if (this.#messages.length > 0 || this.#dropped > 0) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  async #next(): Promise<string | null> {
    if (this.#catchingUp !== null) {
      try {
        const { done, value } = await this.#catchingUp.next();
        if (done !== true) return value;
      } catch {
        // The reader is better off resuming than with a hole.
        this.end();
        return null;
      } finally {
        if (this.#hasEnded) this.#catchingUp = null;
      }
      this.#catchingUp = null;
    }
    if (this.#messages.length > 0) return this.#takeMessages();
    if (this.#dropped === 0) return null;
    const text = `event: dropped\ndata: ${JSON.stringify({ count: this.#dropped })}\n\n`;
    this.#dropped = 0;
    return text;
  }

  #takeMessages(): string {
    let count = 0;
    let size = 0;
    while (count < this.#messages.length && (count === 0 || size < MAX_PIECE)) {
      size += this.#messages[count]!.length;
      count += 1;
    }
    this.#bytes -= size;
    return this.#messages.splice(0, count).join('');
  }

  async #checkRights(): Promise<void> {
    // Tails that were opened together are looked at together.
    await this.#tools.share.turn();
    try {
      this.#allowed = await this.order.rights();
      this.#failedLooks = 0;
    } catch {
      // Cannot be told now: the next look decides. For ever it must not be, or who keeps it from being told keeps the tail.
      this.#failedLooks += 1;
    }
    if (this.#allowed === null || this.#failedLooks >= MAX_FAILED_LOOKS) this.end();
  }
}

/** Messages of lines; with `gapAfter`, more than these were missed behind that id. */
async function* missedMessages(
  response: Response,
  gapAfter: number | null,
): AsyncGenerator<string> {
  let gap = gapAfter;
  for await (const line of linesOf(response)) {
    const id = idOf(line);
    if (gap !== null) {
      yield `event: gap\ndata: ${JSON.stringify({ from: gap + 1, to: id - 1 })}\n\n`;
      gap = null;
    }
    yield tailMessage(id, line);
  }
}

function totalOf({ headers }: Response): number {
  return Number(headers.get(LIST_HEADERS.total));
}

function idOf(line: string): number {
  return Number(/^\{"id":(\d+)/.exec(line)?.[1]);
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
