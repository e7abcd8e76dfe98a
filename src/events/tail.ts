/**
 * Live tails: new events as server-sent events, in the order of their commits (EV-77 to EV-79).
 *
 * All tails share one reading of the new events. A reader that falls behind loses messages and is told how many; it never
 * holds anything up. Rights are looked up again every few seconds and asked for each event.
 */
import type { EventRow } from './event.ts';
import { eventJson } from './event.ts';
import type { Events } from './events.ts';
import type { FilterQuery } from './query-filter.ts';
import type { Selection } from './selection.ts';
import { foldedText, spacedJson } from './term.ts';
import { timeText } from './event-time.ts';

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
const LIFE_MS = 30 * 60_000;
/** New events are gathered this long: one reading for many commits. */
const GATHER_MS = 40;
const READ_EVENTS = 500;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 1024 * 1024;
const MAX_MISSED = 10_000;
const ENCODER = new TextEncoder();

/** The open tails of one process. */
export class Tails {
  readonly #events: Events;
  readonly #streams = new Set<TailStream>();
  readonly #stopListening: () => void;
  #position = 0;
  #timer: Timer | null = null;
  #isReading = false;

  constructor(events: Events) {
    this.#events = events;
    this.#stopListening = events.onCommit(() => this.#readLater());
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Starts a tail; null when the user has as many as may be. The caller has checked that something may be read. */
  async open(order: TailOrder): Promise<ReadableStream<Uint8Array> | null> {
    const allowed = await order.rights();
    // From here on nothing is awaited: many that open at once are counted one by one.
    if (this.#countOf(order.userId) >= order.mostOfUser) return null;
    const newest = this.#events.newestId();
    if (this.#streams.size === 0) this.#position = newest;
    const stream = new TailStream(order, allowed, this.#position, () =>
      this.#streams.delete(stream),
    );
    this.#streams.add(stream);
    if (order.lastId !== null || order.backlog > 0)
      void stream.catchUp(this.#events, this.#position);
    return stream.body;
  }

  /** Ends all of them. */
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
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const newest = this.#events.newestId();
      while (this.#position < newest && this.#streams.size > 0) {
        const rows = this.#events.between(this.#position, newest, READ_EVENTS);
        for (const row of rows) for (const stream of this.#streams) stream.offer(row);
        this.#position = rows.at(-1)?.id ?? newest;
        await new Promise(setImmediate);
      }
      for (const stream of this.#streams) stream.lookUpTo(this.#events, newest);
    } catch {
      // The store cannot be read now; the next commit tries again from the same position.
    } finally {
      this.#isReading = false;
    }
  }
}

/** One reader. */
class TailStream {
  readonly order: TailOrder;
  readonly body: ReadableStream<Uint8Array>;
  readonly #onEnd: () => void;
  readonly #timers: Timer[];
  #allowed: ((index: string) => boolean) | null;
  #messages: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #catchingUp: AsyncIterator<string> | null = null;
  #wake: (() => void) | null = null;
  #hasEnded = false;
  /** Of a tail with a query: how far it has looked, and is to look. */
  #looked: number;
  #wanted: number;
  #isLooking = false;

  constructor(
    order: TailOrder,
    allowed: ((index: string) => boolean) | null,
    position: number,
    onEnd: () => void,
  ) {
    this.order = order;
    this.#looked = position;
    this.#wanted = position;
    this.#allowed = allowed;
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#finish() },
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

  /** Sends what was missed, up to `position`, before anything new. */
  async catchUp(events: Events, position: number): Promise<void> {
    this.#catchingUp = this.#missed(events, position);
    this.#wake?.();
  }

  async *#missed(events: Events, position: number): AsyncGenerator<string> {
    const { selection, lastId, backlog, query } = this.order;
    const most = lastId === null ? backlog : MAX_MISSED;
    if (query !== null) {
      const response = await this.#matching(events, lastId ?? 0, position, most);
      const left = Number(response.headers.get('x-total')) - most;
      yield* missedMessages(response, left > 0 ? lastId : null);
      return;
    }
    const readable = events.indexNames().filter((index) => this.#allowed?.(index) === true);
    const order = {
      selection: { ...selection, readable },
      isDescending: false,
      afterId: null,
      aboveId: lastId,
      highestId: position,
      format: 'ndjson',
    };
    const head = await events.request('events-list', {
      ...order,
      limit: 1,
      offset: 0,
      counts: true,
    });
    await head.body?.cancel();
    const total = Number(head.headers.get('x-total'));
    const offset = Math.max(0, total - most);
    const response = await events.request('events-list', {
      ...order,
      limit: most,
      offset,
      counts: false,
    });
    yield* missedMessages(response, offset > 0 ? lastId : null);
  }

  /** Takes in a new event if it is for this reader. */
  offer(row: EventRow): void {
    if (this.order.query !== null) return;
    if (this.#allowed?.(row.index) !== true || !matches(row, this.order.selection)) return;
    this.#add(row.id, eventJson(row));
  }

  /** Looks through the new events in a worker, one look at a time: a query may take long. */
  lookUpTo(events: Events, newest: number): void {
    if (this.order.query === null) return;
    this.#wanted = newest;
    if (!this.#isLooking) void this.#look(events);
  }

  async #look(events: Events): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#looked < this.#wanted && !this.#hasEnded) {
        const upTo = this.#wanted;
        const response = await this.#matching(events, this.#looked, upTo, MAX_MISSED);
        for await (const line of linesOf(response)) this.#add(idOf(line), line);
        this.#looked = upTo;
      }
    } catch {
      // The next commit tries again from the same place.
    } finally {
      this.#isLooking = false;
    }
  }

  #matching(events: Events, aboveId: number, highestId: number, most: number): Promise<Response> {
    const readable = events.indexNames().filter((index) => this.#allowed?.(index) === true);
    const { query, selection } = this.order;
    const order = { selection: { ...selection, readable }, query, aboveId, highestId, most };
    return events.request('events-matching', order);
  }

  #add(id: number, text: string): void {
    if (this.#messages.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES || this.#dropped > 0) {
      this.#dropped += 1;
      this.#wake?.();
      return;
    }
    this.#push(message(id, text));
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#finish();
  }

  #push(text: string): void {
    this.#messages.push(text);
    this.#bytes += text.length;
    this.#wake?.();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const text = await this.#next();
      if (text !== null) {
        controller.enqueue(ENCODER.encode(text));
        return;
      }
      if (this.#hasEnded) {
        controller.close();
        return;
      }
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
        this.#finish();
        return null;
      } finally {
        if (this.#hasEnded) this.#catchingUp = null;
      }
      this.#catchingUp = null;
    }
    if (this.#messages.length > 0) {
      const text = this.#messages.join('');
      this.#messages = [];
      this.#bytes = 0;
      return text;
    }
    if (this.#dropped === 0) return null;
    const text = `event: dropped\ndata: ${JSON.stringify({ count: this.#dropped })}\n\n`;
    this.#dropped = 0;
    return text;
  }

  async #checkRights(): Promise<void> {
    try {
      this.#allowed = await this.order.rights();
    } catch {
      // Cannot be told now: the next look decides.
      return;
    }
    if (this.#allowed === null) this.end();
  }

  #finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#onEnd();
    this.#wake?.();
  }
}

function message(id: number, json: string): string {
  return `id: ${id}\nevent: event\ndata: ${json}\n\n`;
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
    yield message(id, line);
  }
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

/** Whether an event is in a selection; times of `_time` are not looked at. */
function matches(
  row: EventRow,
  { members, created, updated, createdAfter, createdBefore, terms }: Selection,
): boolean {
  for (const [name, value] of Object.entries(members)) {
    if (row[name as 'index' | 'host'] !== value) return false;
  }
  if (created !== null && row.created !== created) return false;
  if (updated !== null && row.updated !== updated) return false;
  if (createdAfter !== null && row.created < createdAfter) return false;
  if (createdBefore !== null && row.created >= createdBefore) return false;
  return terms.length === 0 || hasTerms(row, terms);
}

function hasTerms(row: EventRow, terms: readonly string[]): boolean {
  const times = [row.created, row.updated].flatMap((at) => {
    const text = timeText(at);
    return [text, text.replace('T', ' ').slice(0, -1)];
  });
  const texts = [
    row.data,
    row.index,
    row.sourcetype,
    row.source,
    row.host,
    spacedJson(row.fields),
    ...times,
  ].map(foldedText);
  return terms.every((term) => {
    const folded = foldedText(term);
    return texts.some((text) => text.includes(folded));
  });
}
