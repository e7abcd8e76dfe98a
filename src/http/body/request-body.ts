/**
 * The body of one request, counted while it arrives, so a limit holds whatever `Content-Length` claims. It can be looked at
 * ahead (for a CSRF field) and still be read from the start. A sender that stops surfaces as `bad-request`; one that is
 * slow must still be signed in at the end. An unwanted body is drained before the answer where the connection ends with it,
 * or the client would be cut off before it could read why.
 */
import { AppError } from '../../base/errors.ts';
import { bodyMemory, SMALL_BODY_BYTES } from './body-room.ts';
import { ByteBlocks } from '../reply/byte-blocks.ts';
import type { IdleLimit } from '../reply/idle-limit.ts';

interface Reader {
  read(): Promise<{ readonly value?: Uint8Array; readonly done: boolean }>;
  cancel(): Promise<void>;
}

/** Longest wait for the rest of an unwanted body, and for its next piece. */
const LINGER_MS = { all: 30_000, piece: 2_000 };

/** Between two checks of the sender's credentials. */
const RECHECK_MS = 2_000;

interface BodyRules {
  readonly mostBytes: () => number;
  /** Reserves memory. */
  readonly take: (bytes: number) => Promise<void>;
  /** Throws when the sender would no longer be admitted. */
  readonly requireStanding: () => Promise<void>;
}

export class RequestBody {
  readonly #request: Request;
  readonly #idleLimit: IdleLimit;
  #ahead = new ByteBlocks();
  #reader: Reader | null = null;
  #isTaken = false;
  #isBeingRead = false;
  #isOver = false;
  readonly #rules: BodyRules;
  #checkedAt = performance.now();

  constructor(request: Request, idleLimit: IdleLimit, rules: BodyRules) {
    this.#request = request;
    this.#idleLimit = idleLimit;
    this.#rules = rules;
  }

  /** Lower case, without parameters; `''` when the header is missing. */
  get mediaType(): string {
    const header = this.#request.headers.get('content-type') ?? '';
    return (header.split(';', 1)[0] ?? '').trim().toLowerCase();
  }

  /**
   * Throws `too-large` as soon as the body is known to pass `maxBytes`, `bad-request` when the connection breaks or the
   * body was read before, `not-authenticated` when the sender lost his credential meanwhile.
   */
  async bytes(maxBytes: number): Promise<Uint8Array> {
    this.#requireLength(maxBytes);
    const declared = this.#request.headers.get('content-length');
    const isUntouched = this.#reader === null && !this.#isTaken;
    if (isUntouched && (declared !== null || this.#request.body === null)) {
      // The fast way: the server holds the client to its Content-Length.
      this.#isTaken = true;
      const whole = await this.#timed(() => this.#request.bytes());
      this.#isOver = true;
      await this.#recheck();
      return whole;
    }
    const blocks = new ByteBlocks();
    for await (const chunk of this.stream(maxBytes)) blocks.add(chunk);
    return concatenated(blocks.pieces());
  }

  /** As `bytes`, but reserves memory; for a long body before it arrives. */
  async kept(maxBytes: number): Promise<Uint8Array> {
    this.#requireLength(maxBytes);
    const declared = Number(this.#request.headers.get('content-length') ?? 0);
    if (declared > SMALL_BODY_BYTES) await this.#rules.take(bodyMemory(declared, 0));
    if (declared > 0) return this.bytes(maxBytes);
    const blocks = new ByteBlocks();
    for await (const chunk of this.stream(maxBytes)) await this.#keep(blocks, chunk);
    return concatenated(blocks.pieces());
  }

  /** Leaving the loop early discards the rest. Errors as `bytes`. */
  async *stream(maxBytes: number): AsyncGenerator<Uint8Array> {
    if (this.#isTaken) throw new AppError('bad-request', 'The request body was read before');
    this.#isTaken = true;
    this.#isBeingRead = true;
    const most = Math.min(maxBytes, this.#rules.mostBytes());
    let received = 0;
    try {
      for (const chunk of this.#ahead.pieces()) {
        received += chunk.length;
        if (received > most) throw tooLarge();
        yield chunk;
      }
      this.#ahead = new ByteBlocks();
      for (let chunk = await this.#next(); chunk !== null; chunk = await this.#next()) {
        received += chunk.length;
        if (received > most) throw tooLarge();
        await this.#recheck().catch(unlessUntold);
        yield chunk;
      }
      await this.#recheck();
    } finally {
      this.#isBeingRead = false;
      // Bun discards the rest and keeps the connection usable.
      if (!this.#endsConnection) await this.#reader?.cancel().catch(() => undefined);
    }
  }

  /**
   * Resolves when the rest of an unread body has arrived, after 30 s, or when the client stops; null when there is nothing
   * to wait for. Only where the client closes the connection with this request, as nginx does: closed early, it would see a
   * broken connection instead of the answer.
   */
  unread(): Promise<void> | null {
    if (this.#isOver || this.#isBeingRead || !this.#endsConnection) return null;
    const { body, headers } = this.#request;
    // With Expect, the answer comes before the body.
    if (body === null || headers.has('expect')) return null;
    if (this.#reader === null && (this.#isTaken || body.locked)) return null;
    return this.#discard((this.#reader ??= body.getReader()));
  }

  async #discard(reader: Reader): Promise<void> {
    const silence = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => silence.resolve(false), LINGER_MS.piece);
    const end = performance.now() + LINGER_MS.all;
    let isMore = true;
    while (isMore && performance.now() < end) {
      const piece = reader.read().then(
        ({ done }) => !done,
        () => false,
      );
      isMore = await Promise.race([piece, silence.promise]);
      timer.refresh();
    }
    clearTimeout(timer);
  }

  get #endsConnection(): boolean {
    return /\bclose\b/i.test(this.#request.headers.get('connection') ?? '');
  }

  /** Up to `maxBytes`, kept for the reader that follows; a second call gives the same bytes. */
  async *lookAhead(maxBytes: number): AsyncGenerator<Uint8Array> {
    let seen = 0;
    while (seen < maxBytes) {
      const kept = seen < this.#ahead.length ? this.#ahead.from(seen) : null;
      const chunk = kept ?? (await this.#next());
      if (chunk === null) return;
      if (kept === null) await this.#keep(this.#ahead, chunk);
      seen += chunk.length;
      yield chunk;
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const { body } = this.#request;
    if (body === null) return null;
    const reader = (this.#reader ??= body.getReader());
    const { value } = await this.#timed(() => reader.read());
    if (value === undefined) this.#isOver = true;
    return value ?? null;
  }

  async #keep(blocks: ByteBlocks, chunk: Uint8Array): Promise<void> {
    if (blocks.length + chunk.length > SMALL_BODY_BYTES) {
      await this.#rules.take(bodyMemory(blocks.growth(chunk.length), 0));
    }
    blocks.add(chunk);
  }

  #requireLength(maxBytes: number): void {
    const declared = Number(this.#request.headers.get('content-length') ?? 0);
    if (declared > Math.min(maxBytes, this.#rules.mostBytes())) throw tooLarge();
  }

  async #recheck(): Promise<void> {
    if (performance.now() - this.#checkedAt < RECHECK_MS) return;
    await this.#rules.requireStanding();
    this.#checkedAt = performance.now();
  }

  async #timed<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await this.#idleLimit.whileReading(read);
    } catch (error) {
      throw new AppError('bad-request', 'The request body ended early', { cause: error });
    }
  }
}

/** When it cannot be checked now, the next check decides. */
function unlessUntold(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
}

function tooLarge(): AppError {
  return new AppError('too-large', 'Request body too large');
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
