/**
 * Bodies of accepting routes: as received, decompressed with a limit, and what kind of body it is.
 *
 * What is received and inflated takes room in the queue before it is kept, piece by piece, so that no number of
 * bodies, bombs among them, holds more than the queue. A long body goes on to the disk.
 */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { QueuePlace } from '../../events/intake/queue-room.ts';
import { SpoolFile } from '../../base/files/spool-file.ts';
import type { Pieces } from '../../events/store/writer-orders.ts';
import { lengthOf } from '../../events/store/writer-orders.ts';
import { release } from '../../base/scheduling/garbage-collection.ts';
import { ByteBlocks } from '../../http/reply/byte-blocks.ts';
import { inflated, isKnownCoding } from '../../http/body/content-coding.ts';
import type { Context } from '../../http/context.ts';
import { multipartFields, urlencodedFields } from '../../http/body/form-body.ts';
import { decodeUtf8, JsonParseError, parseEventJson } from '../../events/intake/json-text.ts';

export interface DecodedBody {
  readonly pieces: Pieces;
  /** Estimated; at least 1. */
  readonly events: number;
}

interface EventBody extends DecodedBody {
  /** `json`, NDJSON lines, or a form as JSON text. */
  readonly form: 'json' | 'lines' | 'fields';
}

/** The limits of events unless given. */
interface BodyRules {
  readonly takesLines: boolean;
  /** Names of a form whose values gather. */
  readonly lists?: readonly string[];
  /** As received and decompressed. */
  readonly maxBytes?: number;
  /** Absent for small bodies. */
  readonly place?: QueuePlace;
}

interface Reading {
  /** Undone by the reader of the body. */
  readonly ownCoding?: string;
  /** For both forms. */
  readonly mostBytes?: number;
  readonly place?: QueuePlace | null;
  /** Stands about once in an event. */
  readonly mark?: string;
}

const LINES: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
]);

/** The member that every event has. */
const DATA = '"data"';

/** Read in one go, its room taken before; larger ones take room as they arrive. */
const MAX_WHOLE_BYTES = 1024 * 1024;
/** Per body: a credential may send many at once. */
const MAX_MEMORY_BYTES = 256 * 1024;
/** A sender below 4 KiB a second for more than a minute holds room that others need. */
const PATIENCE_MS = 60_000;
const SLOWEST_BYTES_PER_MS = 4;
/** A form is one event, and read in one go: percent-encoding makes three bytes of one. */
const FORM_BYTES_PER_EVENT_BYTE = 7;

/**
 * The body without its content encoding. Throws `too-large` (`Request body too large`, `Decompressed body too
 * large`) as soon as it is, `unsupported-media-type` for an unknown encoding, `bad-request` for a damaged body; `throttled`
 * and `unavailable` when the queue has no room for it.
 */
export async function decodedBody(
  context: Context,
  { ownCoding, mostBytes = Number.POSITIVE_INFINITY, place = null, mark = DATA }: Reading = {},
): Promise<DecodedBody> {
  const { clock, config } = context.services;
  const { limits } = config.events;
  const maxBytes = Math.min(limits.max_body_bytes, mostBytes);
  const maxDecoded = Math.min(limits.max_decoded_bytes, mostBytes);
  const coding = (context.request.headers.get('content-encoding') ?? 'identity')
    .trim()
    .toLowerCase();
  const isPlain = coding === 'identity' || coding === '' || coding === ownCoding;
  if (!isPlain && !isKnownCoding(coding)) throw unsupported(coding);
  const declared = Number(context.request.headers.get('content-length') ?? 0);
  if (declared > maxBytes) throw new AppError('too-large', 'Request body too large');
  const { body } = context;
  const marks = new MarkCounter(mark, limits.max_events);
  if (isPlain && declared > 0 && declared <= MAX_WHOLE_BYTES) {
    await place?.take({ bytes: declared });
    const whole = await readInTime(body.bytes(maxBytes), declared, place);
    marks.add(whole);
    return { pieces: whole, events: marks.events };
  }
  const stream = body.stream(maxBytes);
  return isPlain
    ? gathered(stream, { maxBytes, place, clock, marks })
    : gathered(inflated(stream, coding), { maxBytes: maxDecoded, place, clock, marks });
}

interface Gathering {
  readonly maxBytes: number;
  readonly place: QueuePlace | null;
  readonly clock: Clock;
  readonly marks: MarkCounter;
}

/**
 * In blocks, each of which has its room in the place, or in its file, before it is kept. Throws `too-large`, `bad-request`
 * for a stream that is too slow, and as `QueuePlace.take` and `spool`.
 */
export async function gathered(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, place, clock, marks }: Gathering,
): Promise<DecodedBody> {
  let blocks = new ByteBlocks();
  const startedAt = clock.monotonic();
  let taken = 0;
  const toDisk = async (): Promise<void> => {
    for (const piece of blocks.pieces()) await place?.spool(piece);
    blocks = new ByteBlocks();
  };
  try {
    for await (const piece of stream) {
      const size = (place?.file?.length ?? 0) + blocks.length + piece.length;
      if (size > maxBytes) throw new AppError('too-large', 'Decompressed body too large');
      if (clock.monotonic() - startedAt > patienceFor(size)) throw tooSlow();
      marks.add(piece);
      const more = blocks.growth(piece.length);
      if (more > 0) {
        await place?.take({ bytes: more });
        taken += more;
      }
      blocks.add(piece);
      if (place !== null && blocks.length > MAX_MEMORY_BYTES) await toDisk();
    }
  } catch (error) {
    // Many are refused at once.
    for (const piece of blocks.pieces()) release(piece);
    throw error;
  }
  if (place?.file != null) await toDisk();
  const pieces = place?.file ?? blocks.pieces();
  place?.give(taken - lengthOf(pieces));
  return { pieces, events: marks.events };
}

/** Throws `bad-request` when it is too slow: the reading cannot be stopped then, so its room is given back when it ends. */
export async function readInTime(
  reading: Promise<Uint8Array>,
  bytes: number,
  place: QueuePlace | null,
  sleep: (ms: number) => Promise<void> & Partial<Disposable> = cancellableSleep,
): Promise<Uint8Array> {
  const patience = sleep(patienceFor(bytes));
  try {
    const body = await Promise.race([reading, patience]);
    if (body !== undefined) return body;
    place?.giveAfter(bytes, reading);
    throw tooSlow();
  } finally {
    patience[Symbol.dispose]?.();
  }
}

/** Milliseconds in which so many bytes must have come. */
function patienceFor(bytes: number): number {
  return PATIENCE_MS + bytes / SLOWEST_BYTES_PER_MS;
}

function cancellableSleep(ms: number): Promise<void> & Disposable {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Object.assign(promise, { [Symbol.dispose]: () => clearTimeout(timer) });
}

function tooSlow(): AppError {
  return new AppError('bad-request', 'The request body came too slowly');
}

/** A single piece is not copied. */
export function joined(pieces: Pieces): Uint8Array {
  if (pieces instanceof Uint8Array) return pieces;
  if (pieces instanceof SpoolFile) return pieces.head(pieces.length);
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** The body of `POST /api/events/` and of updates. Throws as `decodedBody`, and `unsupported-media-type`. */
export async function eventBody(context: Context, rules: BodyRules): Promise<EventBody> {
  const { mediaType } = context.body;
  const decoded = (mostBytes = rules.maxBytes, mark = DATA): Promise<DecodedBody> =>
    decodedBody(context, { mostBytes, place: rules.place, mark });
  if (mediaType === '' || mediaType === 'application/json' || mediaType.endsWith('+json')) {
    return { ...(await decoded()), form: 'json' };
  }
  if (rules.takesLines && LINES.has(mediaType)) {
    return { ...(await decoded(rules.maxBytes, '\n')), form: 'lines' };
  }
  if (mediaType === 'application/x-www-form-urlencoded') {
    const body = await decoded();
    const { pieces } = body;
    // curl -d calls everything a form.
    const head = pieces instanceof SpoolFile ? pieces.head(256) : joined(pieces).subarray(0, 256);
    if (/^\s*[[{]/.test(Buffer.from(head).toString('latin1'))) return { ...body, form: 'json' };
    if (lengthOf(pieces) > formBytes(context))
      throw new AppError('too-large', 'Request body too large');
    return asFields(urlencodedFields(Buffer.from(joined(pieces)).toString()), rules.lists);
  }
  if (mediaType === 'multipart/form-data') {
    const { pieces } = await decoded(Math.min(rules.maxBytes ?? Infinity, formBytes(context)));
    const stream = (async function* () {
      yield joined(pieces);
    })();
    const contentType = context.request.headers.get('content-type');
    return asFields(await multipartFields(stream, contentType), rules.lists);
  }
  const isText = rules.takesLines && mediaType === 'text/plain';
  throw unsupported(mediaType, isText ? ' Lines of text go to /services/collector/raw.' : '');
}

/** Names in `lists` gather their values, of others the last counts. */
function asFields(
  fields: Iterable<readonly [string, string]>,
  lists: readonly string[] = [],
): EventBody {
  const members: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    const gathered = members[name];
    if (!lists.includes(name)) members[name] = value;
    else if (Array.isArray(gathered)) gathered.push(value);
    else members[name] = [value];
  }
  return { pieces: Buffer.from(JSON.stringify(members)), events: 1, form: 'fields' };
}

function formBytes({ services }: Context): number {
  return services.config.events.limits.max_event_bytes * FORM_BYTES_PER_EVENT_BYTE;
}

function unsupported(type: string, hint = ''): AppError {
  const detail = `Unsupported media type "${type}" in request.${hint}`;
  return new AppError('unsupported-media-type', detail);
}

/** Counts how often a mark stands in a body that comes in pieces; what holds more than `most` is refused anyway. */
export class MarkCounter {
  readonly #mark: Buffer;
  readonly #most: number;
  #seam: Buffer = Buffer.alloc(0);
  #count = 0;

  constructor(mark: string, most: number) {
    this.#mark = Buffer.from(mark);
    this.#most = most;
  }

  get events(): number {
    return Math.max(1, this.#count);
  }

  add({ buffer: bytes, byteOffset, byteLength }: Uint8Array): void {
    const buffer = Buffer.from(bytes, byteOffset, byteLength);
    const overlap = this.#mark.length - 1;
    if (overlap > 0) {
      // Too short on either side to hold a whole mark.
      const across = Buffer.concat([this.#seam, buffer.subarray(0, overlap)]);
      this.#count += this.#marksIn(across);
      this.#seam = Buffer.from((byteLength < overlap ? across : buffer).subarray(-overlap));
    }
    this.#count += this.#marksIn(buffer);
  }

  #marksIn(buffer: Buffer): number {
    const most = this.#most - this.#count;
    let count = 0;
    for (let at = buffer.indexOf(this.#mark); at >= 0 && count < most;) {
      count += 1;
      at = buffer.indexOf(this.#mark, at + 1);
    }
    return count;
  }
}

/** It is parsed at once. */
export const MAX_SMALL_BODY_BYTES = 1024 * 1024;

/**
 * Of a form an object, where names in `lists` may repeat. Throws `too-large`, and `bad-request` for bodies that are no
 * JSON.
 */
export async function eventJsonBody(
  context: Context,
  lists: readonly string[] = [],
): Promise<unknown> {
  const rules = { takesLines: false, lists, maxBytes: MAX_SMALL_BODY_BYTES };
  const { pieces, form } = await eventBody(context, rules);
  try {
    return parseEventJson(
      decodeUtf8(joined(pieces)),
      context.services.config.events.limits.max_depth,
    );
  } catch (error) {
    if (error instanceof JsonParseError && form === 'json')
      throw new AppError('bad-request', error.message);
    throw error;
  }
}
