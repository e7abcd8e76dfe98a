/**
 * Importing files of events beside a server or without one: NDJSON or plain lines, packed or not (EV-108).
 *
 * Lines go through the same door as those of a request. How far a file has come stands in the transaction of its events, so
 * an import that was cut off goes on behind the last line that was stored, never twice over one.
 */
import { createReadStream, realpathSync, statfsSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { AppError } from '../base/errors.ts';
import type { DirectStore } from './direct-store.ts';
import type { MetaDefaults } from './intake.ts';
import type { EventStore } from './store.ts';
import type { RejectedEntry, WriterOrder } from './writer-orders.ts';
import { NOT_WRITABLE } from './writer-jobs.ts';

/** What is imported and how. */
interface ImportOrder {
  readonly path: string;
  /** For events that do not name them. */
  readonly defaults: MetaDefaults;
  /** Each line is the data of an event; else it is an event object. */
  readonly isPlain: boolean;
  /** Goes on behind the last stored line. */
  readonly resumes: boolean;
}

/** What the importer works with. */
interface ImportParts {
  readonly store: EventStore;
  readonly writer: Pick<DirectStore, 'run'>;
  /** Folder of the store, and the free bytes below which nothing is written. */
  readonly stateDir: string;
  readonly minFreeBytes: number;
  /** Most events the writer takes at once. */
  readonly maxEvents: number;
}

/** How far an import is. */
export interface ImportProgress {
  readonly accepted: number;
  readonly rejected: number;
  readonly lines: number;
  /** Of the file as it lies there. */
  readonly bytes: number;
  readonly size: number;
  /** Lines that were not stored since the last report, the first hundred of a batch. */
  readonly rejects: readonly { readonly line: number; readonly reason: string }[];
}

const BATCH_LINES = 5_000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** A line longer than this is refused without being gathered whole. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;
const IMPORTER = 'command import';
const EVERYTHING = { isSuperuser: true, patterns: { read: [], write: [] }, scopes: null };

/** Imports a file, reporting after each transaction. Throws `not-found`, `bad-request`, `unavailable`; what was reported stays stored. */
export async function* importFile(
  order: ImportOrder,
  parts: ImportParts,
): AsyncGenerator<ImportProgress> {
  const path = realPath(order.path);
  const size = statSync(path).size;
  const source = createReadStream(path);
  const known = parts.store.findProgress(path);
  const batchLines = Math.min(BATCH_LINES, parts.maxEvents);
  let firstLineHash: Uint8Array | null = null;
  let skipped = order.resumes ? (known?.lines ?? 0) : 0;
  const state = { accepted: 0, rejected: 0, lines: 0 };
  let batch: Buffer[] = [];
  let bytes = 0;
  const flush = (isLast: boolean): ImportProgress => {
    requireRoom(parts);
    const lines = state.lines;
    const from = lines - batch.length;
    const progress: WriterOrder = {
      kind: 'progress',
      file: path,
      firstLineHash: firstLineHash ?? new Uint8Array(),
      lines,
    };
    const body = order.isPlain ? asEvents(batch) : joined(batch);
    const [written] = parts.writer.run([
      { head: linesOrder(order.defaults), body },
      { head: progress, body: new Uint8Array() },
    ]);
    const { accepted, rejected, rejects } = written!.head;
    state.accepted += accepted;
    state.rejected += rejected;
    batch = [];
    bytes = 0;
    return {
      ...state,
      bytes: isLast ? size : source.bytesRead,
      size,
      rejects: rejects.map((reject) => ({ line: from + lineOf(reject), reason: reject.reason })),
    };
  };
  for await (const line of linesOf(unpacked(source, path))) {
    if (firstLineHash === null) {
      firstLineHash = hashOf(line);
      if (skipped > 0 && !Buffer.from(known!.firstLineHash).equals(firstLineHash)) {
        throw new AppError(
          'bad-request',
          `${order.path} begins with another line than the file that was imported before: import it without --resume`,
        );
      }
    }
    state.lines += 1;
    if (skipped > 0) {
      skipped -= 1;
      continue;
    }
    batch.push(line);
    bytes += line.length;
    if (batch.length >= batchLines || bytes >= BATCH_BYTES) yield flush(false);
  }
  yield flush(true);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new AppError('not-found', `${path} cannot be read`, { cause: error });
  }
}

function requireRoom({ stateDir, minFreeBytes }: ImportParts): void {
  const { bavail, bsize } = statfsSync(stateDir);
  if (bavail * bsize < minFreeBytes) throw new AppError('unavailable', NOT_WRITABLE);
}

function linesOrder(defaults: MetaDefaults): WriterOrder {
  return {
    kind: 'intake',
    dialect: 'rest',
    mode: 'lines',
    mediaType: 'application/x-ndjson',
    parameters: {},
    headers: {},
    userId: 0,
    sender: IMPORTER,
    acknowledges: false,
    grants: EVERYTHING,
    indexes: null,
    defaults,
    clientAddress: '',
    isDryRun: false,
    isMinimal: true,
    idempotency: null,
  };
}

/** Blank lines stay, so that positions are those of the file. */
function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.from([NEWLINE])]));
}

function asEvents(lines: readonly Buffer[]): Buffer {
  const texts = lines.map((line) => {
    const data = line.toString().replaceAll('\0', '\ufffd');
    return data.trim() === '' ? '' : JSON.stringify({ data });
  });
  return Buffer.from(`${texts.join('\n')}\n`);
}

function lineOf({ position }: RejectedEntry): number {
  return Number(/\d+/.exec(position)?.[0] ?? 0);
}

function hashOf(line: Uint8Array): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher('sha256').update(line).digest());
}

function unpacked(source: Readable, path: string): Readable {
  const unpack = (transform: Transform): Readable => {
    source.on('error', (error) => transform.destroy(error));
    return source.pipe(transform);
  };
  if (path.endsWith('.gz')) return unpack(createGunzip());
  if (path.endsWith('.zst')) return unpack(createZstdDecompress());
  return source;
}

/** Without the mark that says UTF-8, which programs of Windows write. Throws `bad-request` for one that says UTF-16. */
function behindMark(start: Buffer): Buffer {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return start.subarray(3);
  const isWide =
    (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  if (isWide) throw new AppError('bad-request', 'the file is UTF-16: write it as UTF-8');
  return start;
}

/** Lines without their ends; the last one also when nothing ends it. */
async function* linesOf(source: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let length = 0;
  try {
    let isFirst = true;
    for await (const chunk of source) {
      const bytes = isFirst ? behindMark(chunk as Buffer) : (chunk as Buffer);
      let from = 0;
      isFirst = false;
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
        yield Buffer.concat([...rest, bytes.subarray(from, at)]);
        rest = [];
        length = 0;
        from = at + 1;
      }
      if (from === bytes.length) continue;
      rest.push(bytes.subarray(from));
      length += bytes.length - from;
      if (length > MAX_LINE_BYTES)
        throw new AppError('bad-request', `a line has more than ${MAX_LINE_BYTES} bytes`);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { message } = error as Error;
    throw new AppError('bad-request', `the file cannot be read to its end: ${message}`, {
      cause: error,
    });
  }
  if (length > 0) yield Buffer.concat(rest);
}
