/**
 * Bytes of an opened file as an answer: whole, in parts, or 304 (RFC 9110). Memory does not grow with the file: up to
 * WHOLE_BYTES are read at once, more is sent by the kernel. A replaced file goes on as it was, a shrunk one ends early. Bun
 * sends parts only of a path, not of a descriptor's number: hence the path of the descriptor.
 */
import { existsSync } from 'node:fs';
import type { HeldFile } from '../../base/files/file-source.ts';
import type { Context } from '../context.ts';
import { isTextLike, MIN_GZIP_BYTES, acceptsGzip, quotedTag } from './negotiate.ts';
import { byteStream } from './outgoing-stream.ts';
import { emptyReply, type Reply, type Answer } from './reply.ts';

/** A thousand slow readers hold a thousand times this. */
const WHOLE_BYTES = 256 * 1024;
/** Where the bytes pass through this process. */
const CHUNK_BYTES = 128 * 1024;
/** Bun opens the path while it sends the head. */
const CLOSE_DELAY_MS = 1_000;
/** Linux: the open files of this process by number. */
const DESCRIPTORS = '/proc/self/fd';

/** `headers`: its type and `Last-Modified`, if known. */
export interface RangedContent {
  readonly file: HeldFile;
  /** The file still holds the bytes that were opened. */
  isUnchanged(): boolean;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A compressed answer has neither length nor ranges, which readers of data files need. */
  readonly mayCompress: boolean;
}

/** How long the file is needed after the answer was given: not at all, its path for a moment, or open. */
export interface RangedAnswer {
  readonly answer: Answer;
  readonly needs: 'nothing' | 'path' | 'file';
}

export async function closeWhenSent(file: HeldFile, needs: RangedAnswer['needs']): Promise<void> {
  if (needs === 'nothing') await file.close();
  else if (needs === 'path') setTimeout(() => void file.close(), CLOSE_DELAY_MS);
}

/** The caller closes the file with `closeWhenSent`. */
export async function rangedAnswer(
  context: Context,
  version: RangedContent,
): Promise<RangedAnswer> {
  const { request, method } = context;
  const { file, etag, headers } = version;
  if (isKnown(context, version)) return held({ ...emptyReply(304, headers), etag });
  const range = request.headers.get('range');
  const mayCut =
    method !== 'HEAD' &&
    rangeHolds(request.headers.get('if-range'), etag, headers['Last-Modified'] ?? '');
  const ranges = mayCut ? parseRanges(range, file.size) : null;
  if (ranges === null) {
    return wholeAnswer(context, version, version.mayCompress && range === null);
  }
  const [only] = ranges;
  if (only === undefined) return held(unsatisfiable(version));
  return ranges.length === 1 ? partAnswer(version, only) : partsAnswer(version, ranges);
}

function unsatisfiable({ file, headers }: RangedContent): Reply {
  const { 'Content-Type': _, 'Content-Disposition': __, ...rest } = headers;
  return emptyReply(416, { ...rest, 'Content-Range': `bytes */${file.size}` });
}

function isKnown(context: Context, { etag, headers }: RangedContent): boolean {
  const { headers: asked } = context.request;
  if (asked.has('if-none-match')) return context.isNotModified(etag);
  const since = Date.parse(asked.get('if-modified-since') ?? '');
  return Date.parse(headers['Last-Modified'] ?? '') <= since;
}

async function wholeAnswer(
  context: Context,
  version: RangedContent,
  mayCompress: boolean,
): Promise<RangedAnswer> {
  const { file, headers } = version;
  const accepted = context.request.headers.get('accept-encoding');
  const isCompressed =
    mayCompress &&
    file.size > MIN_GZIP_BYTES &&
    isTextLike(headers['Content-Type']!) &&
    acceptsGzip(accepted);
  if (isCompressed) return compressedAnswer(context, version);
  const range = { from: 0, to: file.size };
  return file.size > WHOLE_BYTES
    ? sent(version, range, 200, {})
    : held(response(await file.read(0, file.size), version, 200, {}));
}

/** Compressed on its way, so without ranges. */
async function compressedAnswer(
  { method }: Context,
  version: RangedContent,
): Promise<RangedAnswer> {
  const { file, etag, headers } = version;
  const { 'Accept-Ranges': _, ...own } = headers;
  const reply = (body: Reply['body']): Reply => ({ status: 200, headers: own, body, etag });
  if (method === 'HEAD') return held(reply(null));
  if (file.size <= WHOLE_BYTES) return held(reply(await file.read(0, file.size)));
  const bytes = rangeBytes(version, { from: 0, to: file.size });
  return { answer: reply(closing(bytes, file)), needs: 'file' };
}

async function partAnswer(version: RangedContent, range: ByteRange): Promise<RangedAnswer> {
  const { file } = version;
  const extra = { 'Content-Range': contentRange(range, file.size) };
  const length = range.to - range.from;
  if (length > WHOLE_BYTES) return sent(version, range, 206, extra);
  return held(response(await file.read(range.from, length), version, 206, extra));
}

/** RFC 9110, 14.6. */
async function partsAnswer(
  version: RangedContent,
  ranges: readonly ByteRange[],
): Promise<RangedAnswer> {
  const { file } = version;
  const boundary = crypto.randomUUID().replaceAll('-', '');
  const type = { 'Content-Type': `multipart/byteranges; boundary=${boundary}` };
  const pieces = partPieces(version, ranges, boundary);
  const length = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  if (length > WHOLE_BYTES) {
    const body = byteStream(closing(pieces, file));
    return { answer: response(body, version, 206, type), needs: 'file' };
  }
  const bytes: Uint8Array[] = [];
  for await (const piece of pieces) bytes.push(piece);
  return held(response(Buffer.concat(bytes), version, 206, type));
}

async function* partPieces(
  version: RangedContent,
  ranges: readonly ByteRange[],
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const { file, headers } = version;
  for (const range of ranges) {
    const place = contentRange(range, file.size);
    const head = `\r\n--${boundary}\r\nContent-Type: ${headers['Content-Type']}\r\nContent-Range: ${place}\r\n\r\n`;
    yield Buffer.from(head, 'latin1');
    yield* rangeBytes(version, range);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1');
}

/** Throws when the file changed, before the last piece is given out. */
async function* rangeBytes(
  { file, isUnchanged }: RangedContent,
  { from, to }: ByteRange,
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to;) {
    const bytes = await file.read(at, Math.min(CHUNK_BYTES, to - at));
    at += bytes.length;
    if (bytes.length === 0 || (at >= to && !isUnchanged())) {
      throw new Error('The file changed while it was sent');
    }
    yield bytes;
  }
}

/** Closes the file after the last piece, and when the reader leaves. */
function closing(pieces: AsyncGenerator<Uint8Array>, file: HeldFile): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const next = await pieces.next();
          if (next.done === true) await file.close();
          return next;
        } catch (error) {
          await file.close();
          throw error;
        }
      },
      async return() {
        await pieces.return(undefined);
        await file.close();
        return { done: true, value: undefined };
      },
    }),
  };
}

function sent(
  version: RangedContent,
  { from, to }: ByteRange,
  status: number,
  extra: Readonly<Record<string, string>>,
): RangedAnswer {
  const { fd, path } = version.file;
  const source = existsSync(DESCRIPTORS) ? `${DESCRIPTORS}/${fd}` : path;
  const body = Bun.file(source).slice(from, to);
  return { answer: response(body, version, status, extra), needs: 'path' };
}

function response(
  body: Uint8Array | Blob | ReadableStream<Uint8Array>,
  { etag, headers }: RangedContent,
  status: number,
  extra: Readonly<Record<string, string>>,
): Response {
  const all = { ...headers, ETag: quotedTag(etag, false), ...extra };
  return new Response(body as Bun.BodyInit, { status, headers: all });
}

function held(answer: Answer): RangedAnswer {
  return { answer, needs: 'nothing' };
}

/** Bytes of a file (RFC 9110, section 14); `to` is exclusive. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** More are answered with the whole file: no honest client asks for so many. */
const MAX_RANGES = 32;
const RANGE = /^(?:(\d+)-(\d*)|-(\d+))$/;

/**
 * In their order, overlapping ones merged; null for the whole file (no header, not understood, too many); empty when none
 * can be satisfied.
 */
function parseRanges(header: string | null, size: number): ByteRange[] | null {
  const list = /^bytes\s*=(.*)$/i.exec(header ?? '')?.[1];
  if (list === undefined) return null;
  const wanted = list.split(',').map((part) => part.trim());
  if (wanted.length > MAX_RANGES) return null;
  const ranges: ByteRange[] = [];
  for (const text of wanted) {
    const match = RANGE.exec(text);
    if (match === null) return null;
    const [, first, last, suffix] = match;
    const from = suffix === undefined ? Number(first) : Math.max(0, size - Number(suffix));
    const end = suffix !== undefined || last === '' ? size : Number(last) + 1;
    if (suffix === undefined && last !== '' && end <= from) return null;
    const to = Math.min(end, size);
    if (from < to) ranges.push({ from, to });
  }
  return merged(ranges);
}

/** At the place of the first. */
function merged(ranges: readonly ByteRange[]): ByteRange[] {
  const result: ByteRange[] = [];
  for (const range of ranges) {
    let { from, to } = range;
    let place = result.length;
    for (let index = result.length - 1; index >= 0; index--) {
      const other = result[index]!;
      if (other.from >= to || from >= other.to) continue;
      from = Math.min(from, other.from);
      to = Math.max(to, other.to);
      result.splice(index, 1);
      place = index;
    }
    result.splice(place, 0, { from, to });
  }
  return result;
}

/**
 * Whether parts may be sent: the strong entity tag, or the exact date of the last change. The tag of a compressed answer
 * never holds: its parts are other bytes.
 */
function rangeHolds(ifRange: string | null, etag: string, lastModified: string): boolean {
  if (ifRange === null) return true;
  const value = ifRange.trim();
  return value.startsWith('"') ? value === `"${etag}"` : value === lastModified;
}

function contentRange({ from, to }: ByteRange, size: number): string {
  return `bytes ${from}-${to - 1}/${size}`;
}
