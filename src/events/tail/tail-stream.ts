/**
 * Missed events first, then new ones, in a bounded buffer. A client that falls behind loses messages and is sent
 * their number; it never delays others.
 */
import type { LoopShare } from '../../base/scheduling/loop-share.ts';
import type { Events } from '../events.ts';
import type { FilterQuery } from '../read/query-filter.ts';
import { QUERY_PROBLEM_HEADER } from '../read/query-filter.ts';
import { LIST_HEADERS } from '../read/read-jobs.ts';
import type { Selection } from '../read/selection.ts';
import type { TailEvent } from './tail-event.ts';
import { isSelected, tailMessage } from './tail-event.ts';
import { foldedText } from '../read/term.ts';

export interface TailOrder {
  readonly userId: number;
  readonly mostOfUser: number;
  readonly selection: Selection;
  readonly query: FilterQuery | null;
  /** Resume after this id; null: start with new events. */
  readonly lastId: number | null;
  readonly backlog: number;
  /** Indexes that may be read now; null once the caller may read none or no longer exists. */
  readonly rights: () => Promise<((index: string) => boolean) | null>;
}

const HEARTBEAT_MS = 15_000;
const RIGHTS_MS = 3_000;
/** Failed checks of rights in a row after which the tail ends; the client resumes when the check works again. */
const MAX_FAILED_LOOKS = 2;
const LIFE_MS = 30 * 60_000;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 1024 * 1024;
const MAX_MISSED = 10_000;
/** Joining and encoding a piece takes a fraction of a millisecond. */
const MAX_PIECE = 128 * 1024;
/** Characters the server writes per millisecond. */
const WRITTEN_PER_MS = 256 * 1024;
const ENCODER = new TextEncoder();

interface TailTools {
  readonly events: Events;
  readonly share: LoopShare;
  readonly onEnd: () => void;
}

/** Where most backlogs lie: looking at so many ids takes milliseconds. */
const NEAR_IDS = 20_000;

export class TailStream {
  readonly order: TailOrder;
  readonly body: ReadableStream<Uint8Array>;
  readonly #tools: TailTools;
  readonly #timers: Timer[];
  readonly #terms: readonly string[];
  /** Events up to this id existed before; newer ones are offered. */
  readonly #startsBehind: number;
  #allowed: ((index: string) => boolean) | null;
  #messages: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #catchingUp: AsyncGenerator<string> | null = null;
  readonly #stop = new AbortController();
  #wake: (() => void) | null = null;
  #hasEnded = false;
  /** Sent first, with the head of the answer; null before a backlog, which tells where it begins. */
  #start: string | null;
  #failedLooks = 0;
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
    const hasBacklog = order.lastId === null && order.backlog > 0;
    this.#start = hasBacklog ? null : startMessage(order.lastId ?? position);
    this.#allowed = allowed;
    this.#tools = tools;
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.end() },
      { highWaterMark: 0 },
    );
    this.#timers = [
      setInterval(() => this.#beat(), HEARTBEAT_MS),
      setInterval(() => void this.#checkRights(), RIGHTS_MS),
      setTimeout(() => {
        this.#push('event: end\ndata: {}\n\n');
        this.end();
      }, LIFE_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** Sends the last id examined, so that a client without matches resumes there. */
  #beat(): void {
    // Clients must not resume after events whose loss is still to be reported.
    const isBehind = this.#dropped > 0 || this.#catchingUp !== null;
    this.#push(isBehind ? ': hb\n\n' : `: hb\nid: ${this.#looked}\n\n`);
  }

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
      const response = await this.#matching(lastId ?? 0, position, { most, counts: false });
      yield* this.#messagesOf(response, totalOf(response) > most);
      return;
    }
    const order = {
      selection: { ...selection, readable: this.#readable() },
      afterId: null,
      highestId: position,
      counts: false,
      format: 'ndjson',
    };
    const { signal } = this.#stop;
    // The newest of those that are left out, from the end: counting all takes seconds with a million events.
    const edge = { ...order, isDescending: true, limit: 1, offset: most };
    const near = Math.max(lastId ?? 0, position - NEAR_IDS);
    let aboveId = lastId;
    let isCut = false;
    let isById = true;
    for (const from of near === (lastId ?? 0) ? [near] : [near, lastId ?? 0]) {
      isById = from === near;
      const found = await events.request('events-list', { ...edge, aboveId: from, isById }, signal);
      for await (const line of linesOf(found)) {
        aboveId = idOf(line);
        isCut = true;
      }
      if (isCut) break;
    }
    const rest = { ...order, isDescending: false, aboveId, limit: most, offset: 0, isById };
    yield* this.#messagesOf(await events.request('events-list', rest, signal), isCut);
  }

  async *#messagesOf(response: Response, isCut: boolean): AsyncGenerator<string> {
    const { lastId } = this.order;
    let isFirst = true;
    for await (const line of linesOf(response)) {
      const id = idOf(line);
      // A client that loses the connection now resumes before its backlog.
      if (isFirst && lastId === null) yield startMessage(id - 1);
      if (isFirst && lastId !== null && isCut)
        yield `event: gap\ndata: ${JSON.stringify({ from: lastId + 1, to: id - 1 })}\n\n`;
      isFirst = false;
      yield tailMessage(id, line);
    }
    if (isFirst && lastId === null) yield startMessage(this.#startsBehind);
  }

  /** Returns a promise for an event that takes long. */
  offer(event: TailEvent): void | Promise<void> {
    if (this.order.query !== null || this.#hasEnded) return;
    const { row } = event;
    // The shared read may still deliver events from before this tail.
    if (row.id <= this.#startsBehind) return;
    if (this.#terms.length > 0 && event.isLong) return this.#offerLong(event);
    this.#looked = row.id;
    if (!this.#mayShow(event)) return;
    if (this.#terms.length === 0) this.#add(() => event.message);
    else if (event.hasTerms(this.#terms)) this.#add(() => event.message);
  }

  async #offerLong(event: TailEvent): Promise<void> {
    if (this.#mayShow(event) && (await event.hasTermsInTurns(this.#terms, this.#tools.share)))
      this.#add(() => event.message);
    this.#looked = event.row.id;
  }

  #mayShow({ row }: TailEvent): boolean {
    return this.#allowed?.(row.index) === true && isSelected(row, this.order.selection);
  }

  /** Has a query and has not examined that far. */
  wantsLook(newest: number): boolean {
    return this.order.query !== null && !this.#hasEnded && this.#looked < newest;
  }

  /** Filters new events in a worker, because a query may take long. Throws when none is available. */
  async look(newest: number): Promise<void> {
    const wanted = { most: MAX_MISSED, counts: true };
    const response = await this.#matching(this.#looked, newest, wanted);
    let left = Math.max(0, totalOf(response) - MAX_MISSED);
    let last = this.#looked;
    for await (const line of linesOf(response)) {
      if (this.#tools.share.isOver) await this.#tools.share.turn();
      // Only the newest are read.
      this.#dropped += left;
      left = 0;
      const id = idOf(line);
      // Messages sent before an interrupted look are not repeated.
      if (id > this.#looked) this.#add(() => tailMessage(id, line));
      last = this.#looked = Math.max(last, id);
    }
    this.#looked = newest;
  }

  /** Ends the tail and throws when the query cannot finish: resuming is better for the client than a gap. */
  async #matching(
    aboveId: number,
    highestId: number,
    wanted: { readonly most: number; readonly counts: boolean },
  ): Promise<Response> {
    const { query, selection } = this.order;
    const readable = this.#readable();
    const order = { selection: { ...selection, readable }, query, aboveId, highestId, ...wanted };
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

  /** A message larger than the whole buffer may still be sent alone. */
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

  /** Accepts nothing more; buffered messages are still sent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#tools.onEnd();
    // Both are needed: one for pending reads, one for the open answer.
    this.#stop.abort();
    if (this.#catchingUp !== null) {
      // It rejects with the abort reason.
      this.#catchingUp.return(undefined).catch(() => undefined);
      // With those ids, the client would resume after events it still misses.
      this.#messages = this.#messages.filter((message) => !/^(?:: hb\n)?id: /.test(message));
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
      // One event wakes hundreds of clients.
      await this.#tools.share.turn();
      const text = await this.#next();
      if (text !== null) {
        controller.enqueue(ENCODER.encode(text));
        // The server writes it to the socket after this returns.
        this.#tools.share.spend(text.length / WRITTEN_PER_MS);
        return;
      }
      if (this.#hasEnded) {
        controller.close();
        return;
      }
      // Checked again, because messages may have arrived; later ones wake it.
      if (this.#messages.length > 0 || this.#dropped > 0) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  async #next(): Promise<string | null> {
    const start = this.#start;
    this.#start = null;
    if (start !== null) return start;
    if (this.#catchingUp !== null) {
      try {
        const { done, value } = await this.#catchingUp.next();
        if (done !== true) return value;
      } catch {
        // Resuming is better for the client than a gap.
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
    // Tails opened together check at the same time.
    await this.#tools.share.turn();
    try {
      this.#allowed = await this.order.rights();
      this.#failedLooks = 0;
    } catch {
      // Unknown now: the next check decides. Limited, or whoever makes the check fail would keep the tail.
      this.#failedLooks += 1;
    }
    if (this.#allowed === null || this.#failedLooks >= MAX_FAILED_LOOKS) this.end();
  }
}

/** Without data it only sets where a client resumes. */
function startMessage(id: number): string {
  return `id: ${id}\n\n`;
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
