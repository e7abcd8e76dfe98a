/**
 * The writer: orders in, one transaction, results out, in its own process.
 *
 * Bodies are read and answers made here, off the server's event loop. Refusals are decided before the transaction; an
 * answer leaves only after COMMIT returned, and so after its fsync.
 */
import { SQLiteError } from 'bun:sqlite';
import { closeSync, openSync, writeSync } from 'node:fs';
import { SpoolFile } from '../../base/files/spool-file.ts';
import { collectGarbage } from '../../base/scheduling/garbage-collection.ts';
import type { Dialect, IntakeLimits, IntakeOrder, Reading, Stored } from '../intake/intake.ts';
import { IntakeRefusal, IntakeTools } from '../intake/intake.ts';
import { Drafts } from '../intake/drafts.ts';
import { eventsJson, eventsList } from '../event.ts';
import type { EventStore, Inserted } from './store.ts';
import { Extraction } from '../intake/extract/extraction.ts';
import { Layouts } from '../intake/extract/layouts.ts';
import { changeEvent, removeEvent } from './writer-changes.ts';
import { pruneStep } from '../retention/writer-prune.ts';
import type {
  Framed,
  RejectedEntry,
  WriterAnswer,
  WriterOrder,
  WriterResult,
  WriterSettings,
} from './writer-orders.ts';
import { EMPTY_ANSWER } from './writer-orders.ts';

const NOTHING = new Uint8Array();
const MAX_REJECTS = 100;
/** Unused channels are forgotten after a week. */
const CHANNEL_MICROS = 7 * 86_400 * 1_000_000;

/**
 * What a repeat is answered from, together with its body. Answers stored by older versions lack the last three
 * members.
 */
interface Kept {
  readonly firstId: number;
  readonly count: number;
  readonly ackId?: number | null;
  /** Microseconds. */
  readonly created?: number;
  /** How the entries were read: the key's settings, its address and limits may have changed since. */
  readonly order?: Pick<
    IntakeOrder,
    'mode' | 'mediaType' | 'parameters' | 'defaults' | 'clientAddress'
  >;
  readonly limits?: IntakeLimits;
}

/** What was written for an order: stored events, or the answer to a change; null: nothing. */
type Done =
  { readonly kept: Kept; readonly answer?: undefined } | { readonly answer: WriterAnswer } | null;

interface Prepared {
  readonly order: WriterOrder;
  readonly body: Uint8Array;
  readonly refusal: WriterAnswer | null;
  readonly reading: Reading | null;
}

export class Writer {
  readonly #store: EventStore;
  readonly #dialects: ReadonlyMap<string, Dialect>;
  readonly #now: () => number;
  readonly #folder: string;
  /** Of the present batch. */
  readonly #files: Disposable[] = [];
  readonly #layouts: Layouts;
  #settings: WriterSettings;
  #extraction: Extraction;
  #kept: Kept | null = null;

  /** `now`: microseconds; `folder`: for what does not fit into memory. */
  constructor(options: {
    readonly store: EventStore;
    readonly dialects: readonly Dialect[];
    readonly settings: WriterSettings;
    readonly now: () => number;
    readonly folder: string;
  }) {
    this.#store = options.store;
    this.#dialects = new Map(options.dialects.map((dialect) => [dialect.name, dialect]));
    this.#now = options.now;
    this.#folder = options.folder;
    this.#settings = options.settings;
    this.#layouts = new Layouts(options.store.layouts());
    this.#extraction = new Extraction(options.settings.extraction, this.#layouts);
  }

  configure(settings: WriterSettings): void {
    this.#extraction = new Extraction(settings.extraction, this.#layouts);
    this.#settings = settings;
  }

  /** In order; everything written is on disk. */
  run(batch: readonly Framed<WriterOrder>[]): Framed<WriterResult>[] {
    const now = this.#now();
    const first = batch[0]?.head;
    const name = first?.kind === 'batch' ? first : null;
    const orders = name === null ? batch : batch.slice(1);
    try {
      const prepared = orders.map(({ head, body }) => this.#prepare(head, body, now));
      return this.#commit(prepared, now, name).map((answer, at) => framed(answer, orders[at]!));
    } finally {
      for (const file of this.#files.splice(0)) file[Symbol.dispose]();
    }
  }

  /** Answers a request whose events the previous writer committed before it died. */
  #answerAgain(one: Prepared, done: Done, now: number): WriterAnswer {
    if (done?.answer !== undefined) return done.answer;
    const order = one.order as IntakeOrder;
    if (done !== null) {
      const { created, ...place } = done.kept;
      const { reading } = this.#read(order, one.body, this.#settings.limits, created!);
      if (reading === null) throw new Error('What was committed cannot be read again');
      const at = { ...place, created: created!, ackId: place.ackId ?? null };
      return intakeAnswer(reading, storedAs(reading.drafts, at));
    }
    const repeat = mayRepeat(order) ? this.#findRepeat(one, order, now) : null;
    return repeat === null ? this.#answerWithout(one, now) : repeat();
  }

  #prepare(order: WriterOrder, body: Uint8Array, now: number): Prepared {
    if (order.kind !== 'intake') return { order, body, refusal: null, reading: null };
    return { order, body, ...this.#read(order, body, this.#settings.limits, now) };
  }

  #read(
    order: IntakeOrder,
    body: Uint8Array,
    limits: IntakeLimits,
    now: number,
  ): Pick<Prepared, 'refusal' | 'reading'> {
    try {
      const layouts = this.#layouts.branch();
      const extraction = this.#extraction.withLayouts(layouts);
      const drafts = this.#keptFile(new Drafts(this.#folder));
      const newFile = (): SpoolFile => this.#keptFile(new SpoolFile(this.#folder));
      const tools = new IntakeTools(order, { limits, extraction, now, drafts, newFile });
      const reading = this.#dialects.get(order.dialect)!.read(body, order, tools);
      // Columns told by lines that are not stored are nobody's.
      if (drafts.length > 0 && !order.isDryRun) this.#layouts.merge(layouts);
      return { refusal: null, reading };
    } catch (error) {
      if (!(error instanceof IntakeRefusal)) throw error;
      const { status, headers, reason } = error;
      const refusal = { ...EMPTY_ANSWER, status, headers, body: error.body, problem: reason };
      return { refusal, reading: null };
    }
  }

  #keptFile<File extends Disposable>(file: File): File {
    this.#files.push(file);
    return file;
  }

  #commit(
    prepared: readonly Prepared[],
    now: number,
    name: { readonly name: string; readonly slot: number } | null,
  ): WriterAnswer[] {
    if (prepared.every(needsNoWrite)) return prepared.map((one) => this.#answerWithout(one, now));
    const finishers: (() => WriterAnswer)[] = [];
    const done: Done[] = [];
    try {
      this.#store.begin();
      const known = name === null ? null : this.#store.findBatch(name.slot, name.name);
      if (known !== null) {
        // The writer before may have ended between its write and its sync: this commit syncs all of the log.
        this.#store.commit();
        const before = JSON.parse(known) as readonly Done[];
        return prepared.map((one, at) => this.#answerAgain(one, before[at]!, now));
      }
      for (const one of prepared) {
        this.#kept = null;
        const finish = this.#write(one, now);
        finishers.push(finish);
        if (one.order.kind !== 'intake') done.push({ answer: finish() });
        else done.push(this.#kept === null ? null : { kept: this.#kept });
      }
      if (name !== null) this.#store.keepBatch(name.slot, name.name, JSON.stringify(done), now);
      for (const change of this.#layouts.unsaved) this.#store.keepLayout(change, now);
      this.#store.commit();
      this.#layouts.saved();
    } catch (error) {
      this.#store.rollback();
      // One bad order must not fail the others; a disk fault fails all.
      if (prepared.length > 1 && !(error instanceof SQLiteError)) {
        return prepared.flatMap((one) => this.#commit([one], now, null));
      }
      throw error;
    }
    return finishers.map((finish) => finish());
  }

  /** Runs inside the transaction; the returned function makes the answer after it. */
  #write(one: Prepared, now: number): () => WriterAnswer {
    const { order, body, reading } = one;
    if (order.kind === 'update') {
      return changeEvent(this.#store, order, body, {
        now,
        settings: this.#settings,
        extraction: this.#extraction.withLayouts(this.#layouts.branch()),
      });
    }
    if (order.kind === 'batch') return () => EMPTY_ANSWER;
    if (order.kind === 'delete') return removeEvent(this.#store, order, now);
    if (order.kind === 'prune') return pruneStep(this.#store, order, now);
    if (order.kind === 'seal') {
      const ids = new Float64Array(body.slice().buffer);
      const problem = this.#store.sealed.seal(order, [...ids], now);
      return () => ({ ...EMPTY_ANSWER, status: problem === null ? 204 : 409, problem });
    }
    if (order.kind === 'reclaim') {
      const hasMore = this.#store.reclaim();
      return () => ({ ...EMPTY_ANSWER, hasMore });
    }
    if (order.kind === 'forget') {
      this.#store.sealed.forgetDropped(now);
      this.#store.forgetReplies(order.before);
      this.#store.forgetChannels(now - CHANNEL_MICROS);
      return () => EMPTY_ANSWER;
    }
    if (order.kind === 'progress') {
      this.#store.keepProgress(order, now);
      return () => EMPTY_ANSWER;
    }
    const repeat = mayRepeat(order) ? this.#findRepeat(one, order, now) : null;
    if (repeat !== null) return repeat;
    if (reading === null || storesNothing(one)) return () => this.#answerWithout(one, now);
    const { drafts } = reading;
    const { firstId, created } = this.#insert(drafts, now);
    const ackId = this.#acknowledge(order, reading, now);
    this.#kept = { firstId, count: drafts.length, ackId, created };
    this.#keep(order, body, this.#kept, now);
    return () => intakeAnswer(reading, storedAs(drafts, { firstId, created, ackId }));
  }

  /** One after another, so that the ids are those of one call. */
  #insert(drafts: Drafts, now: number): Inserted {
    const [first] = drafts
      .pieces()
      .map((piece) => this.#store.insert(piece, now))
      .toArray();
    return first!;
  }

  /** For orders that store nothing: refused, dry runs, and those without a valid entry. */
  #answerWithout({ order, refusal, reading }: Prepared, now: number): WriterAnswer {
    if (refusal !== null) return refusal;
    if (reading === null || order.kind !== 'intake') return EMPTY_ANSWER;
    const place = { firstId: null, created: now, ackId: null };
    const answer = intakeAnswer(reading, storedAs(reading.drafts, place));
    if (!order.isDryRun) return answer;
    // Nothing was created.
    const status = answer.status === 201 ? 200 : answer.status;
    return { ...answer, status, accepted: 0, rejected: 0, rejects: [] };
  }

  /** Returns how to answer a repeat; null for the first request with its key. */
  #findRepeat(one: Prepared, order: IntakeOrder, now: number): (() => WriterAnswer) | null {
    const { route, key } = order.idempotency!;
    const found = this.#store.findReply(order.userId, route, key);
    if (found === null) return null;
    if (!Buffer.from(found.bodyHash).equals(hashOf(one.body))) {
      if (one.refusal !== null) return null;
      const problem = 'Idempotency-Key was used with a different body.';
      const headers = { 'Content-Type': 'application/json' };
      const body = JSON.stringify({ detail: problem });
      return () => ({ ...EMPTY_ANSWER, status: 422, headers, body, problem });
    }
    return () => this.#replay(one.body, order, JSON.parse(found.answer) as Kept, now);
  }

  /**
   * Rebuilds the first answer from the repeated body: stored events may have changed since, and the caller may no
   * longer be allowed to see them. With the same limits, only lost rights can exclude an entry.
   */
  #replay(body: Uint8Array, order: IntakeOrder, kept: Kept, now: number): WriterAnswer {
    const { firstId, count, ackId = null, created = now } = kept;
    const limits = kept.limits ?? this.#settings.limits;
    const { refusal, reading } = this.#read({ ...order, ...kept.order }, body, limits, created);
    if (refusal !== null) return refusal;
    const { drafts } = reading!;
    if (drafts.length !== count) return { ...EMPTY_ANSWER, status: 403, problem: 'lost right' };
    const answer = intakeAnswer(reading!, storedAs(drafts, { firstId, created, ackId }));
    const headers = { ...answer.headers, 'Idempotent-Replayed': 'true' };
    return { ...answer, headers, accepted: 0, rejected: 0, rejects: [], isReplay: true };
  }

  /** Acknowledgement number on the channel; null when none is needed. */
  #acknowledge(order: IntakeOrder, { channel = null }: Reading, now: number): number | null {
    if (channel === null || !order.acknowledges) return null;
    return this.#store.acknowledge(order.sender, channel, now);
  }

  #keep(order: IntakeOrder, body: Uint8Array, kept: Kept, now: number): void {
    if (order.idempotency === null) return;
    const { route, key } = order.idempotency;
    const { mode, mediaType, parameters, defaults, clientAddress } = order;
    const read = { mode, mediaType, parameters, defaults, clientAddress };
    const answer = JSON.stringify({ ...kept, order: read, limits: this.#settings.limits });
    this.#store.keepReply(order.userId, route, key, { bodyHash: hashOf(body), answer }, now);
  }
}

function framed(
  { body, ...result }: WriterAnswer,
  { body: { length }, path }: Framed<WriterOrder>,
): Framed<WriterResult> {
  const head = { ...result, hasBody: body !== null, spooledBytes: null };
  if (body === null) return { head, body: NOTHING };
  if (typeof body === 'string') return { head, body: Buffer.from(body) };
  if (body instanceof Uint8Array) return { head, body };
  const spooledBytes = path === undefined ? null : spooled(body, path, length);
  if (spooledBytes !== null) return { head: { ...head, spooledBytes }, body: NOTHING };
  return { head, body: Buffer.from([...body].join('')) };
}

/** How many bytes the texts have in the file from `from` on; null when the disk does not take them. */
function spooled(texts: Iterable<string>, path: string, from: number): number | null {
  const file = openSync(path, 'r+');
  try {
    let to = from;
    for (const text of texts) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) {
        const count = writeSync(file, bytes, at, bytes.length - at, to);
        at += count;
        to += count;
      }
      collectGarbage(3 * bytes.length);
    }
    return to - from;
  } catch {
    // The events are stored: the answer is made in memory.
    return null;
  } finally {
    closeSync(file);
  }
}

function needsNoWrite(one: Prepared): boolean {
  return one.order.kind === 'intake' && storesNothing(one) && !mayRepeat(one.order);
}

function storesNothing({ order, reading }: Prepared): boolean {
  return reading === null || reading.drafts.length === 0 || (order as IntakeOrder).isDryRun;
}

function mayRepeat({ idempotency, isDryRun }: IntakeOrder): boolean {
  return idempotency !== null && !isDryRun;
}

function storedAs(
  drafts: Drafts,
  at: { readonly firstId: number | null; readonly created: number; readonly ackId: number | null },
): Stored {
  const { firstId, created, ackId } = at;
  return {
    firstId,
    count: drafts.length,
    ackId,
    events: (limit) => eventsJson(drafts.first(limit), firstId, created),
    array: () => ({ [Symbol.iterator]: () => arrayTexts(drafts, firstId, created) }),
  };
}

function* arrayTexts(
  drafts: Drafts,
  firstId: number | null,
  created: number,
): Generator<string, undefined> {
  let count = 0;
  yield '[';
  for (const piece of drafts.pieces()) {
    if (piece.length === 0) continue;
    if (count > 0) yield ',';
    yield eventsList(piece, firstId === null ? null : firstId + count, created);
    count += piece.length;
  }
  yield ']';
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
