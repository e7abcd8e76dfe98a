/**
 * The writer's side: orders in, one transaction, results out, in a process of its own (EV-48).
 *
 * Bodies are read and answers made here, so that neither costs the server's event loop anything. What can be refused is
 * refused before the transaction; an answer leaves only after COMMIT returned, which is after its fsync.
 */
import { SQLiteError } from 'bun:sqlite';
import type { Dialect, IntakeOrder, Reading, Stored } from './intake.ts';
import { IntakeRefusal, IntakeTools } from './intake.ts';
import type { EventRow } from './event.ts';
import { eventJson, eventsArray, eventsJson } from './event.ts';
import type { EventStore } from './store.ts';
import { Extraction } from './extract/extraction.ts';
import { changeEvent, removeEvent } from './writer-changes.ts';
import { pruneStep } from './writer-prune.ts';
import type {
  Framed,
  RejectedEntry,
  WriterOrder,
  WriterResult,
  WriterSettings,
} from './writer-orders.ts';

const NOTHING = new Uint8Array();
const MAX_REJECTS = 100;
/** A channel unused for a week is forgotten (EV-69). */
const CHANNEL_MICROS = 7 * 86_400 * 1_000_000;

/** A result with its body still as text. */
export interface WriterAnswer extends Omit<WriterResult, 'hasBody'> {
  readonly body: string | Uint8Array | null;
}

/** What an answer is when nothing else is said. */
export const EMPTY_ANSWER: WriterAnswer = {
  status: 204,
  headers: {},
  body: null,
  accepted: 0,
  rejected: 0,
  isReplay: false,
  rejects: [],
  problem: null,
  indexes: [],
  pruned: [],
  hasMore: false,
};

/** What the answer to a repeat is made from. */
interface Kept {
  readonly firstId: number;
  readonly count: number;
  readonly ackId?: number | null;
}

interface Prepared {
  readonly order: WriterOrder;
  readonly body: Uint8Array;
  /** Known before anything is written. */
  readonly refusal: WriterAnswer | null;
  readonly reading: Reading | null;
}

/** Works off batches of orders, one after another. */
export class Writer {
  readonly #store: EventStore;
  readonly #dialects: ReadonlyMap<string, Dialect>;
  readonly #now: () => number;
  #settings: WriterSettings;
  #extraction: Extraction;

  /** `now`: microseconds. */
  constructor(options: {
    readonly store: EventStore;
    readonly dialects: readonly Dialect[];
    readonly settings: WriterSettings;
    readonly now: () => number;
  }) {
    this.#store = options.store;
    this.#dialects = new Map(options.dialects.map((dialect) => [dialect.name, dialect]));
    this.#now = options.now;
    this.#settings = options.settings;
    this.#extraction = new Extraction(options.settings.extraction);
  }

  /** Takes over changed settings. */
  configure(settings: WriterSettings): void {
    this.#extraction = new Extraction(settings.extraction);
    this.#settings = settings;
  }

  /** The results of the orders, in their order; what they wrote is on disk. */
  run(batch: readonly Framed<WriterOrder>[]): Framed<WriterResult>[] {
    const now = this.#now();
    const prepared = batch.map(({ head, body }) => this.#prepare(head, body, now));
    const answers = this.#commit(prepared, now);
    return answers.map(({ body, ...result }) => ({
      head: { ...result, hasBody: body !== null },
      body: body === null ? NOTHING : Buffer.from(body),
    }));
  }

  #prepare(order: WriterOrder, body: Uint8Array, now: number): Prepared {
    if (order.kind !== 'intake') return { order, body, refusal: null, reading: null };
    try {
      const { limits } = this.#settings;
      const tools = new IntakeTools(order, { limits, extraction: this.#extraction, now });
      const reading = this.#dialects.get(order.dialect)!.read(body, order, tools);
      return { order, body, refusal: null, reading };
    } catch (error) {
      if (!(error instanceof IntakeRefusal)) throw error;
      const { status, headers, reason } = error;
      const refusal = { ...EMPTY_ANSWER, status, headers, body: error.body, problem: reason };
      return { order, body, refusal, reading: null };
    }
  }

  #commit(prepared: readonly Prepared[], now: number): WriterAnswer[] {
    if (prepared.every(needsNoWrite)) return prepared.map((one) => this.#answerWithout(one, now));
    const finishers: (() => WriterAnswer)[] = [];
    try {
      this.#store.begin();
      for (const one of prepared) finishers.push(this.#write(one, now));
      this.#store.commit();
    } catch (error) {
      this.#store.rollback();
      // One order must not take the others down with it; a broken disk would.
      if (prepared.length > 1 && !(error instanceof SQLiteError)) {
        return prepared.flatMap((one) => this.#commit([one], now));
      }
      throw error;
    }
    return finishers.map((finish) => finish());
  }

  /** Writes inside the transaction; the answer is made after it. */
  #write(one: Prepared, now: number): () => WriterAnswer {
    const { order, body, reading } = one;
    if (order.kind === 'update') {
      return changeEvent(this.#store, order, body, {
        now,
        settings: this.#settings,
        extraction: this.#extraction,
      });
    }
    if (order.kind === 'delete') return removeEvent(this.#store, order);
    if (order.kind === 'prune') return pruneStep(this.#store, order);
    if (order.kind === 'forget') {
      this.#store.forgetReplies(order.before);
      this.#store.forgetChannels(now - CHANNEL_MICROS);
      return () => EMPTY_ANSWER;
    }
    if (order.kind === 'progress') {
      this.#store.keepProgress(order, now);
      return () => EMPTY_ANSWER;
    }
    if (needsNoWrite(one) || reading === null) return () => this.#answerWithout(one, now);
    const repeat = order.idempotency === null ? null : this.#findRepeat(order, body);
    if (repeat !== null) return repeat(reading);
    const { drafts } = reading;
    const { firstId, created } = this.#store.insert(drafts, now);
    const ackId = this.#acknowledge(order, reading, now);
    this.#keep(order, body, { firstId, count: drafts.length, ackId }, now);
    return () =>
      intakeAnswer(reading, {
        firstId,
        count: drafts.length,
        ackId,
        events: (limit) => eventsJson(drafts.slice(0, limit), firstId, created),
        array: () => eventsArray(drafts, firstId, created),
      });
  }

  /** For orders that store nothing: refused, dry runs, and those without a good entry. */
  #answerWithout({ order, refusal, reading }: Prepared, now: number): WriterAnswer {
    if (refusal !== null) return refusal;
    if (reading === null || order.kind !== 'intake') return EMPTY_ANSWER;
    const { drafts } = reading;
    const count = order.isDryRun ? drafts.length : 0;
    const events = (limit?: number) => eventsJson(drafts.slice(0, limit), null, now);
    const array = () => eventsArray(drafts, null, now);
    const answer = intakeAnswer(reading, { firstId: null, count, ackId: null, events, array });
    if (!order.isDryRun) return answer;
    // Nothing was created.
    const status = answer.status === 201 ? 200 : answer.status;
    return { ...answer, status, accepted: 0, rejected: 0, rejects: [] };
  }

  /** How the answer to a repeat is made (EV-49); null for the first request with its key. */
  #findRepeat(
    order: IntakeOrder,
    body: Uint8Array,
  ): ((reading: Reading) => () => WriterAnswer) | null {
    const { route, key } = order.idempotency!;
    const kept = this.#store.findReply(order.userId, route, key);
    if (kept === null) return null;
    if (!Buffer.from(kept.bodyHash).equals(hashOf(body))) {
      const problem = 'Idempotency-Key was used with a different body.';
      const headers = { 'Content-Type': 'application/json' };
      const answer = {
        ...EMPTY_ANSWER,
        status: 422,
        headers,
        body: JSON.stringify({ detail: problem }),
        problem,
      };
      return () => () => answer;
    }
    const { firstId, count, ackId = null } = JSON.parse(kept.answer) as Kept;
    return (reading) => () => {
      const stored: Stored = {
        firstId,
        count,
        ackId,
        events: (limit = count) => this.#eventsFrom(firstId, Math.min(limit, count)),
        array: () => `[${this.#eventsFrom(firstId, count).join(',')}]`,
      };
      const answer = intakeAnswer(reading, stored);
      const headers = { ...answer.headers, 'Idempotent-Replayed': 'true' };
      return { ...answer, headers, accepted: 0, rejected: 0, rejects: [], isReplay: true };
    };
  }

  #eventsFrom(firstId: number, count: number): string[] {
    const ids = Array.from({ length: count }, (_, index) => firstId + index);
    const rows = ids.map((id) => this.#store.get(id));
    return rows.filter((row): row is EventRow => row !== null).map(eventJson);
  }

  /** The number of a request on its channel; null for one that needs none (EV-69). */
  #acknowledge(order: IntakeOrder, { channel = null }: Reading, now: number): number | null {
    if (channel === null || !order.acknowledges) return null;
    return this.#store.acknowledge(order.sender, channel, now);
  }

  #keep(order: IntakeOrder, body: Uint8Array, kept: Kept, now: number): void {
    if (order.idempotency === null) return;
    const { route, key } = order.idempotency;
    const answer = JSON.stringify(kept);
    this.#store.keepReply(order.userId, route, key, { bodyHash: hashOf(body), answer }, now);
  }
}

function needsNoWrite({ order, refusal, reading }: Prepared): boolean {
  if (order.kind !== 'intake') return false;
  return refusal !== null || order.isDryRun || reading === null || reading.drafts.length === 0;
}

function intakeAnswer(reading: Reading, stored: Stored): WriterAnswer {
  const rejects: RejectedEntry[] = reading.rejections
    .slice(0, MAX_REJECTS)
    .map(({ position, reason, sample }) => ({ position, reason, sample: sample.slice(0, 2048) }));
  const { rejected, drafts } = reading;
  return { ...EMPTY_ANSWER, ...reading.answer(stored), accepted: drafts.length, rejected, rejects };
}

function hashOf(body: Uint8Array): Buffer {
  return Buffer.from(new Bun.CryptoHasher('sha256').update(body).digest());
}
