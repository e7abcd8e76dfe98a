/**
 * Exports made whole before they are sent, so that they have a length and byte ranges: DuckDB reads the end of a
 * Parquet file first, and each part it asks for must not cost another export.
 */
import { closeSync, write as writeCallback } from 'node:fs';
import { promisify } from 'node:util';
import { type HeldFile, sourceOf } from '../base/files/file-source.ts';
import { errnoOf } from '../base/errors.ts';
import type { SpoolRoom } from './spool.ts';

/** A larger export is sent as it is made. */
const MAX_BYTES = 64 * 1024 * 1024;
/** After the last request for it. */
const KEPT_MS = 60_000;
/** Past it the one that was asked for longest ago goes. */
const MAX_KEPT = 16;
const PIECE_BYTES = 256 * 1024;

const write = promisify(writeCallback);

/** An export that is about to be sent; `tag` stands for its bytes. */
interface Export<Facts> {
  readonly tag: string;
  readonly facts: Facts;
  readonly body: ReadableStream<Uint8Array>;
}

/** The caller closes the file. */
interface KeptExport<Facts> extends Omit<Export<Facts>, 'body'> {
  readonly file: HeldFile;
}

export class KeptExports<Facts> {
  readonly #room: SpoolRoom;
  /** The one asked for last is the last. */
  readonly #kept = new Map<string, Kept<Facts>>();
  readonly #making = new Map<string, Promise<Kept<Facts> | null>>();

  constructor(room: SpoolRoom) {
    this.#room = room;
    room.giveUp = () => this.#dropOldest();
  }

  /** Throws as `make`; answers the export as it is being made when it is too large to be kept. */
  async get(
    tag: string,
    person: string | null,
    make: () => Promise<Export<Facts>>,
  ): Promise<KeptExport<Facts> | Export<Facts>> {
    const known = this.#kept.get(tag) ?? (await this.#making.get(tag)) ?? null;
    if (known !== null && !known.isClosed) return this.#use(known);
    const { promise, resolve } = Promise.withResolvers<Kept<Facts> | null>();
    if (!this.#making.has(tag)) this.#making.set(tag, promise);
    let made: Kept<Facts> | null = null;
    try {
      const result = await collected(this.#room, person, await make());
      if (!(result instanceof Kept)) return result;
      made = result;
      return this.#use(made);
    } finally {
      if (this.#making.get(tag) === promise) this.#making.delete(tag);
      resolve(made);
    }
  }

  close(): void {
    for (const kept of this.#kept.values()) this.#drop(kept);
  }

  #use(kept: Kept<Facts>): KeptExport<Facts> {
    const { tag } = kept.of;
    const file = kept.open();
    const other = this.#kept.get(tag);
    if (other !== undefined && other !== kept) this.#drop(other);
    this.#kept.delete(tag);
    this.#kept.set(tag, kept);
    clearTimeout(kept.timer);
    kept.timer = setTimeout(() => this.#drop(kept), KEPT_MS);
    kept.timer.unref();
    if (this.#kept.size > MAX_KEPT) this.#dropOldest();
    return { ...kept.of, file };
  }

  #dropOldest(): boolean {
    const [oldest] = this.#kept.values();
    if (oldest !== undefined) this.#drop(oldest);
    return oldest !== undefined;
  }

  #drop(kept: Kept<Facts>): void {
    clearTimeout(kept.timer);
    if (this.#kept.get(kept.of.tag) !== kept) return;
    this.#kept.delete(kept.of.tag);
    kept.release();
  }
}

/** A nameless file, closed when it is neither kept nor read. */
class Kept<Facts> {
  timer: Timer | undefined;
  readonly of: Omit<Export<Facts>, 'body'>;
  readonly #stored: Stored;
  #users = 1;

  constructor(of: Omit<Export<Facts>, 'body'>, stored: Stored) {
    this.of = of;
    this.#stored = stored;
  }

  get isClosed(): boolean {
    return this.#users === 0;
  }

  open(): HeldFile {
    this.#users++;
    let isOpen = true;
    const close = async (): Promise<void> => {
      if (isOpen) this.release();
      isOpen = false;
    };
    const { fd, bytes } = this.#stored;
    return { ...sourceOf(fd, bytes), fd, path: '', close };
  }

  release(): void {
    this.#users--;
    if (this.#users === 0) this.#stored.close();
  }
}

/** What of an export is on disk. */
class Stored {
  readonly #room: SpoolRoom;
  readonly #person: string | null;
  readonly fd: number;
  bytes = 0;

  constructor(room: SpoolRoom, person: string | null) {
    this.#room = room;
    this.#person = person;
    this.fd = room.open();
  }

  /** False, and nothing added, without room. */
  async add(piece: Uint8Array): Promise<boolean> {
    if (this.bytes + piece.length > MAX_BYTES) return false;
    if (!this.#room.take(this.#person, piece.length)) return false;
    try {
      for (let at = 0; at < piece.length;) {
        const length = piece.length - at;
        at += (await write(this.fd, piece, at, length, this.bytes + at)).bytesWritten;
      }
    } catch (error) {
      this.#room.give(this.#person, piece.length);
      if (errnoOf(error) === undefined) throw error;
      this.#room.failed(error);
      return false;
    }
    this.bytes += piece.length;
    return true;
  }

  close(): void {
    closeSync(this.fd);
    this.#room.give(this.#person, this.bytes);
  }
}

interface PieceReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

async function collected<Facts>(
  room: SpoolRoom,
  person: string | null,
  { body, ...of }: Export<Facts>,
): Promise<Kept<Facts> | Export<Facts>> {
  const reader = body.getReader();
  const stored = new Stored(room, person);
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return new Kept(of, stored);
      if (!(await stored.add(value))) return { ...of, body: rejoined(stored, value, reader) };
    }
  } catch (error) {
    stored.close();
    throw error;
  }
}

/** What is stored, then the piece that did not fit, then the rest as it is made. */
function rejoined(
  stored: Stored,
  piece: Uint8Array,
  reader: PieceReader,
): ReadableStream<Uint8Array> {
  const source = sourceOf(stored.fd, stored.bytes);
  let at = 0;
  let isStored = true;
  const closeStored = (): void => {
    if (isStored) stored.close();
    isStored = false;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isStored && at < source.size) {
          const bytes = await source.read(at, Math.min(PIECE_BYTES, source.size - at));
          at += bytes.length;
          return controller.enqueue(bytes);
        }
        if (isStored) {
          closeStored();
          return controller.enqueue(piece);
        }
        const { value } = await reader.read();
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        closeStored();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
