/**
 * Imports event files, with or without a running server: NDJSON or plain lines, optionally compressed.
 *
 * Lines are validated like those of a request. Progress is stored in the transaction of the events, so an interrupted
 * import continues after the last stored line and never stores one twice.
 */
import { createReadStream, realpathSync, statfsSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { AppError } from '../../base/errors.ts';
import type { DirectStore } from '../store/direct-store.ts';
import type { MetaDefaults } from './intake.ts';
import type { EventStore } from '../store/store.ts';
import type { RejectedEntry, WriterOrder } from '../store/writer-orders.ts';
import { NOT_WRITABLE } from '../store/writer-jobs.ts';

interface ImportOrder {
  /** `-`: standard input, whose progress is not stored. */
  readonly path: string;
  /** For events that do not name them. */
  readonly defaults: MetaDefaults;
  /** Each line is the data of an event, not an event object. */
  readonly isPlain: boolean;
  /** Continues after the last stored line. */
  readonly resumes: boolean;
}

interface ImportParts {
  readonly store: EventStore;
  readonly writer: Pick<DirectStore, 'run'>;
  /** Folder of the store and the free bytes it must keep. */
  readonly stateDir: string;
  readonly minFreeBytes: number;
  readonly maxEvents: number;
}

export interface ImportProgress {
  readonly accepted: number;
  readonly rejected: number;
  readonly lines: number;
  /** Of the file as stored, perhaps compressed. */
  readonly bytes: number;
  readonly size: number;
  /** Since the last report; the first hundred of a batch. */
  readonly rejects: readonly { readonly line: number; readonly reason: string }[];
}

const BATCH_LINES = 5_000;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Longer lines are refused without being buffered whole. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;
const IMPORTER = 'command import';
/** The same as of `/api/events/`, although plain lines use another dialect. */
const PLAIN_DEFAULTS = {
  index: 'default',
  sourcetype: 'default',
  source: 'default',
  host: 'default',
};
const EVERYTHING = { isSuperuser: true, patterns: { read: [], write: [] }, scopes: null };

/** Reports after each transaction. Throws `not-found`, `bad-request`, `unavailable`; what was reported stays stored. */
export async function* importFile(
  order: ImportOrder,
  parts: ImportParts,
): AsyncGenerator<ImportProgress> {
  const path = order.path === '-' ? null : realPath(order.path);
  const size = path === null ? 0 : statSync(path).size;
  const source = path === null ? createReadStream('', { fd: 0 }) : createReadStream(path);
  const known = path === null ? null : parts.store.findProgress(path);
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
    const entries = { head: linesOrder(order), body: joined(batch) };
    const hash = firstLineHash ?? new Uint8Array();
    const progress = { kind: 'progress' as const, firstLineHash: hash, lines };
    const [written] = parts.writer.run(
      path === null
        ? [entries]
        : [entries, { head: { ...progress, file: path }, body: new Uint8Array() }],
    );
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
  for await (const line of linesOf(unpacked(source, order.path))) {
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

function linesOrder({ defaults, isPlain }: ImportOrder): WriterOrder {
  return {
    kind: 'intake',
    dialect: isPlain ? 'hec' : 'rest',
    mode: isPlain ? 'raw' : 'lines',
    mediaType: 'application/x-ndjson',
    parameters: {},
    headers: {},
    userId: 0,
    sender: IMPORTER,
    acknowledges: false,
    grants: EVERYTHING,
    indexes: null,
    defaults: { ...PLAIN_DEFAULTS, ...defaults },
    clientAddress: '',
    isDryRun: false,
    isMinimal: true,
    idempotency: null,
  };
}

/** Blank lines stay, so that positions match the file. */
function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.from([NEWLINE])]));
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

/** Skips the UTF-8 byte order mark that Windows programs write. Throws `bad-request` for that of UTF-16. */
function behindMark(start: Buffer): Buffer {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return start.subarray(3);
  const isWide =
    (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  if (isWide) throw new AppError('bad-request', 'the file is UTF-16: write it as UTF-8');
  return start;
}

/** Lines without their line ends; the last may be unterminated. */
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
