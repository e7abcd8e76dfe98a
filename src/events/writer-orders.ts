/**
 * What the server asks of the writer's process, and how a batch of orders and results crosses between them.
 *
 * A frame is a length, a JSON list of heads, and the bodies one after another: bodies are bytes of any size and are not
 * worth wrapping in JSON.
 */
import type { Grants } from '../auth/permissions.ts';
import type { ExtractionSettings } from './extract/extraction.ts';
import type { IntakeLimits, IntakeOrder } from './intake.ts';

/** PUT or PATCH of one event; its body is the JSON of the request. */
export interface UpdateOrder {
  readonly kind: 'update';
  readonly id: number;
  readonly isPartial: boolean;
  readonly isForm: boolean;
  readonly grants: Grants;
  readonly indexes: readonly string[] | null;
  /** Value of `If-Match`. */
  readonly ifMatch: string | null;
}

/** Deletes one event. */
export interface DeleteOrder {
  readonly kind: 'delete';
  readonly id: number;
  readonly grants: Grants;
  readonly indexes: readonly string[] | null;
  readonly ifMatch: string | null;
}

/** Deletes the oldest events that fulfil all that is given, a step at a time. */
export interface PruneOrder {
  readonly kind: 'prune';
  /** Null: of all indexes. */
  readonly index: string | null;
  /** Microseconds; null: of any age. */
  readonly createdBefore: number | null;
  /** Stops once so many bytes were freed; null: does not. */
  readonly bytes: number | null;
  /** Exactly these, whatever the rest says. */
  readonly ids: readonly number[] | null;
}

/** Forgets answers kept for repeats before that moment (microseconds). */
interface ForgetOrder {
  readonly kind: 'forget';
  readonly before: number;
}

/** Notes how far the import of a file has come, in the transaction of what was imported (EV-108). */
export interface ProgressOrder {
  readonly kind: 'progress';
  /** Real path of the file. */
  readonly file: string;
  /** Tells a file from another one that was put in its place. */
  readonly firstLineHash: Uint8Array;
  /** Lines that are done, also those left out. */
  readonly lines: number;
}

/** One thing to do. */
export type WriterOrder =
  IntakeOrder | UpdateOrder | DeleteOrder | PruneOrder | ForgetOrder | ProgressOrder;

/** An entry that was not stored (EV-61). */
export interface RejectedEntry {
  readonly position: string;
  readonly reason: string;
  readonly sample: string;
}

/** What one step of pruning deleted, by index. */
export interface PrunedIndex {
  readonly index: string;
  readonly events: number;
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
}

/** What became of an order; the body of its answer crosses beside it. */
export interface WriterResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  readonly accepted: number;
  readonly rejected: number;
  readonly isReplay: boolean;
  readonly rejects: readonly RejectedEntry[];
  /** Why a request was refused; null when it was not. */
  readonly problem: string | null;
  /** Of an update or deletion that happened: the indexes it touched. */
  readonly indexes: readonly string[];
  readonly pruned: readonly PrunedIndex[];
  /** A prune order may have more to do. */
  readonly hasMore: boolean;
}

/** Settings the writer works by. */
export interface WriterSettings {
  readonly limits: IntakeLimits;
  readonly extraction: ExtractionSettings;
}

/** A head with the body that goes with it. */
export interface Framed<Head> {
  readonly head: Head;
  readonly body: Uint8Array;
}

/** A head with a body that is still in the pieces it came in: they are only joined on their way out. */
export interface FramedPieces<Head> {
  readonly head: Head;
  readonly body: Pieces;
}

/** Bytes in one piece or in several, in order. */
export type Pieces = Uint8Array | readonly Uint8Array[];

const LENGTH_BYTES = 4;

/** Heads and bodies as one piece of bytes. */
export function frame(parts: readonly FramedPieces<unknown>[]): Uint8Array {
  const heads = Buffer.from(JSON.stringify(parts.map(({ head, body }) => [head, lengthOf(body)])));
  const total = parts.reduce((sum, { body }) => sum + lengthOf(body), LENGTH_BYTES + heads.length);
  const bytes = Buffer.allocUnsafe(total);
  bytes.writeUInt32LE(heads.length, 0);
  bytes.set(heads, LENGTH_BYTES);
  let at = LENGTH_BYTES + heads.length;
  for (const { body } of parts) {
    for (const piece of body instanceof Uint8Array ? [body] : body) {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}

/** Bytes of all pieces. */
export function lengthOf(pieces: Pieces): number {
  return pieces instanceof Uint8Array
    ? pieces.length
    : pieces.reduce((sum, { length }) => sum + length, 0);
}

/** What `frame` put together; the bodies share the memory of `bytes`. */
export function unframe<Head>(bytes: Uint8Array): Framed<Head>[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headEnd = LENGTH_BYTES + view.readUInt32LE(0);
  const heads = JSON.parse(view.toString('utf8', LENGTH_BYTES, headEnd)) as [Head, number][];
  let at = headEnd;
  return heads.map(([head, length]) => {
    const body = bytes.subarray(at, at + length);
    at += length;
    return { head, body };
  });
}
