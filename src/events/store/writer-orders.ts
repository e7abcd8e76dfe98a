/**
 * Orders and results of the writer process, and their binary framing.
 *
 * A frame is a length, a JSON list of heads, and the bodies one after another: bodies are bytes of any size, too
 * costly to encode as JSON. Of a body on disk only the path is sent.
 */
import { mapped, SpoolFile } from '../../base/files/spool-file.ts';
import type { Grants } from '../../accounts/rights/permissions.ts';
import type { ExtractionSettings } from '../intake/extract/extraction.ts';
import type { SealOrder } from '../parts/sealed-store.ts';
import type { AnswerBody, IntakeLimits, IntakeOrder } from '../intake/intake.ts';

/** PUT or PATCH; the body is the JSON of the request. */
export interface UpdateOrder {
  readonly kind: 'update';
  readonly id: number;
  readonly isPartial: boolean;
  readonly isForm: boolean;
  readonly grants: Grants;
  readonly indexes: readonly string[] | null;
  readonly ifMatch: string | null;
}

export interface DeleteOrder {
  readonly kind: 'delete';
  readonly id: number;
  readonly grants: Grants;
  readonly indexes: readonly string[] | null;
  readonly ifMatch: string | null;
}

/** Deletes the oldest events that match all conditions, a step at a time. */
export interface PruneOrder {
  readonly kind: 'prune';
  /** Null: all indexes. */
  readonly index: string | null;
  /** Microseconds; null: any age. */
  readonly createdBefore: number | null;
  /** Stops once so many bytes were freed; null: no limit. */
  readonly bytes: number | null;
  /** The oldest sealed events go with all of their part, whose disk is free only then. */
  readonly isWhole?: boolean;
  /** Exactly these; the other conditions are ignored. */
  readonly ids: readonly number[] | null;
}

/** Forgets idempotency answers older than that (microseconds). */
interface ForgetOrder {
  readonly kind: 'forget';
  readonly before: number;
}

/** Gives space of deleted events back to the disk, a step at a time. */
interface ReclaimOrder {
  readonly kind: 'reclaim';
}

/** Import progress, stored in the transaction of the imported events. */
export interface ProgressOrder {
  readonly kind: 'progress';
  readonly file: string;
  /** Detects another file at the same path. */
  readonly firstLineHash: Uint8Array;
  /** Lines done, rejected ones included. */
  readonly lines: number;
}

/** First of a batch: a batch repeated with the same name is not written again. */
interface BatchOrder {
  readonly kind: 'batch';
  readonly name: string;
  /** The name replaces an older one that cannot be repeated any more. */
  readonly slot: number;
}

export type WriterOrder =
  | BatchOrder
  | IntakeOrder
  | UpdateOrder
  | DeleteOrder
  | PruneOrder
  | ForgetOrder
  | ReclaimOrder
  | SealOrder
  | ProgressOrder;

export interface RejectedEntry {
  readonly position: string;
  readonly reason: string;
  readonly sample: string;
}

/** Deleted in one step, by index. */
export interface PrunedIndex {
  readonly index: string;
  readonly events: number;
  readonly bytes: number;
  readonly oldest: number;
  readonly newest: number;
}

/** The body of the answer is sent beside it. */
export interface WriterResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  /** Of a body that stands in the file of the order, after that of the order; null: it is beside the result. */
  readonly spooledBytes: number | null;
  readonly accepted: number;
  readonly rejected: number;
  readonly isReplay: boolean;
  readonly rejects: readonly RejectedEntry[];
  /** Null unless the request was refused. */
  readonly problem: string | null;
  /** Indexes touched by a successful update or deletion. */
  readonly indexes: readonly string[];
  readonly pruned: readonly PrunedIndex[];
  readonly hasMore: boolean;
}

export interface WriterAnswer extends Omit<WriterResult, 'hasBody' | 'spooledBytes'> {
  readonly body: AnswerBody;
}

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

export interface WriterSettings {
  readonly limits: IntakeLimits;
  readonly extraction: ExtractionSettings;
}

export interface Framed<Head> {
  readonly head: Head;
  readonly body: Uint8Array;
  /** Of the file with the body. */
  readonly path?: string;
}

/** The body is still in pieces, joined only when sent. */
export interface FramedPieces<Head> {
  readonly head: Head;
  readonly body: Pieces;
}

export type Pieces = Uint8Array | readonly Uint8Array[] | SpoolFile;
/** Head, bytes of the body, and its path when it is on disk. */
type FramedHead<Head> = readonly [Head, number, string?];

const LENGTH_BYTES = 4;

export function frame(parts: readonly FramedPieces<unknown>[]): Uint8Array {
  return Buffer.concat(framePieces(parts));
}

/** The same in pieces, none of which is a copy. */
export function framePieces(parts: readonly FramedPieces<unknown>[]): Uint8Array[] {
  const list = parts.map(({ head, body }): FramedHead<unknown> => {
    const length = lengthOf(body);
    return body instanceof SpoolFile ? [head, length, body.path] : [head, length];
  });
  const heads = Buffer.from(JSON.stringify(list));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(heads.length, 0);
  const bodies = parts.flatMap(({ body }) => (body instanceof SpoolFile ? [] : body));
  return [length, heads, ...bodies] as Uint8Array[];
}

export function lengthOf(pieces: Pieces): number {
  return Array.isArray(pieces)
    ? pieces.reduce((sum: number, { length }: Uint8Array) => sum + length, 0)
    : pieces.length;
}

/** The bodies share the memory of `bytes`; those on disk are mapped. */
export function unframe<Head>(bytes: Uint8Array): Framed<Head>[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headEnd = LENGTH_BYTES + view.readUInt32LE(0);
  const heads = JSON.parse(view.toString('utf8', LENGTH_BYTES, headEnd)) as FramedHead<Head>[];
  let at = headEnd;
  return heads.map(([head, length, path]) => {
    if (path !== undefined) return { head, body: mapped(path), path };
    const body = bytes.subarray(at, at + length);
    at += length;
    return { head, body };
  });
}
