/**
 * Decodes `Content-Encoding` piece by piece, off the event loop: the reader counts the pieces, so a compression bomb stops
 * at the limit.
 */
import { Readable, pipeline } from 'node:stream';
import type { Transform } from 'node:stream';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { AppError } from '../../base/errors.ts';

type Pieces = AsyncGenerator<Uint8Array>;
/** Throws any error for a damaged body. */
type Inflate = (pieces: Pieces, head: Uint8Array) => AsyncIterable<Uint8Array>;

const PIECE_BYTES = 256 * 1024;
const OPTIONS = { chunkSize: PIECE_BYTES };

const INFLATES: Readonly<Record<string, Inflate>> = {
  gzip: (pieces) => through(pieces, createGunzip(OPTIONS)),
  'x-gzip': (pieces) => through(pieces, createGunzip(OPTIONS)),
  // Some clients send the bare stream, without the zlib wrapping the name stands for.
  deflate: (pieces, head) =>
    through(pieces, isZlib(head) ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
  zstd: unpackedZstd,
};

export function isKnownCoding(coding: string): boolean {
  return Object.hasOwn(INFLATES, coding);
}

/**
 * Reads no further ahead than asked. Throws `bad-request` for a body that is damaged or cut off, and what reading it
 * throws.
 */
export async function* inflated(pieces: Pieces, coding: string): Pieces {
  const source = new Source(pieces);
  try {
    const head = await source.head();
    if (head === null) return;
    yield* INFLATES[coding]!(source.pieces(), head);
  } catch (error) {
    if (source.error !== null) throw source.error;
    const why = `The request body is no valid ${coding}`;
    throw new AppError('bad-request', why, { cause: error });
  } finally {
    await pieces.return(undefined);
  }
}

/** Tells the failures of reading a body from those of inflating it. */
class Source {
  readonly #pieces: Pieces;
  #head: Uint8Array | null = null;
  error: unknown = null;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  /** Null for none. It comes again as the first of `pieces`. */
  async head(): Promise<Uint8Array | null> {
    this.#head = await this.#next();
    return this.#head;
  }

  async *pieces(): Pieces {
    for (let piece = this.#head; piece !== null; piece = await this.#next()) yield piece;
  }

  async #next(): Promise<Uint8Array | null> {
    try {
      const { done, value } = await this.#pieces.next();
      return done === true ? null : value;
    } catch (error) {
      this.error = error;
      throw error;
    }
  }
}

async function* through(pieces: Pieces, inflater: Transform): Pieces {
  const source = Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
  // Its errors arrive at the loop below.
  pipeline(source, inflater, () => undefined);
  try {
    for await (const piece of inflater) yield piece as Uint8Array;
  } finally {
    source.destroy();
    inflater.destroy();
  }
}

/** node:zlib accepts a truncated frame; this does not. */
async function* unpackedZstd(pieces: Pieces): Pieces {
  const { readable, writable } = new DecompressionStream('zstd');
  const writer = writable.getWriter();
  const writing = (async () => {
    for await (const piece of pieces) await writer.write(piece as Uint8Array<ArrayBuffer>);
    await writer.close();
  })();
  // A failed write also ends the reading loop below, which reports it.
  writing.catch((error: unknown) => writer.abort(error)).catch(() => undefined);
  const reader = readable.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The first two bytes of zlib's wrapping name method 8 and are a multiple of 31 (RFC 1950). */
function isZlib([first = 0, second]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (second === undefined || (first * 256 + second) % 31 === 0);
}
