/**
 * A published file as an answer: its bytes, whole or in parts, or that the client has them already.
 *
 * Nothing here grows with the file. Up to WHOLE_BYTES are read at once, and read anew when the file changed meanwhile. More
 * is sent by the kernel from the opened file: one that is replaced goes on as it was, one that shrinks leaves the answer
 * shorter than announced. Bun sends parts of a path only, not of a descriptor's number: hence the path of the descriptor.
 */
import { existsSync, fstatSync } from 'node:fs';
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { sameContent, stampOf } from '../../base/files/file-stamp.ts';
import { sha256Hex } from '../../base/ids.ts';
import { fileNameOf } from '../../base/paths.ts';
import { attachment, inline } from '../../tables/encode/download-name.ts';
import type { Documents } from '../../docroot/documents.ts';
import type { OpenedFile } from '../../docroot/opener.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { type ByteRange, contentRange, parseRanges, rangeHolds } from './byte-ranges.ts';
import { isTextLike, MIN_GZIP_BYTES, acceptsGzip, quotedTag } from './negotiate.ts';
import type { Context } from '../context.ts';
import { byteStream } from './outgoing-stream.ts';
import { emptyReply, type Reply } from './reply.ts';
import type { Answer } from '../route.ts';

/** Read into memory at once. A thousand slow readers hold a thousand times this. */
const WHOLE_BYTES = 256 * 1024;
/** Read at a time where the bytes pass through us. */
const CHUNK_BYTES = 128 * 1024;
/** A file that changes each time it is read is sent as it was read last. */
const MAX_ATTEMPTS = 8;
/** Bun opens the path while it sends the head; the descriptor stays a little longer. */
const CLOSE_DELAY_MS = 1_000;
/** Linux: the opened files of this process by number. */
const DESCRIPTORS = '/proc/self/fd';
/** Documents that can run scripts in a browser; these two have a policy of their own. */
const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'image/svg+xml']);
const OTHER_ACTIVE_TYPES = /^(?:text\/xml|application\/xml|application\/.*\+xml)$/;

const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups; ';
const PAGE_POLICY = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";
/** Nobody writes XML to run scripts in it. */
const INERT_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

interface FileServices {
  readonly documents: Documents;
  readonly config: { readonly content: { readonly trusted_html: boolean } };
}

interface Version {
  readonly file: OpenedFile;
  readonly type: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A compressed answer has neither length nor ranges, which programs that read data files need. */
  readonly mayCompress: boolean;
}

/** An answer, and what of the file it still needs after it was given: nothing, its path for a moment, or all of it. */
interface Made {
  readonly answer: Answer;
  readonly needs: 'nothing' | 'path' | 'file';
}

/** The bytes of a resource. Throws as `Documents.open`. */
export async function fileReply(
  services: FileServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const file = await services.documents.open(resource);
    let needs: Made['needs'] = 'nothing';
    try {
      const made = await answerFor(context, await versionOf(services, context, resource, file));
      if (made.needs !== 'nothing' || isUnchanged(file) || attempt === MAX_ATTEMPTS) {
        needs = made.needs;
        return made.answer;
      }
    } finally {
      if (needs === 'nothing') await file.close();
      else if (needs === 'path') setTimeout(() => void file.close(), CLOSE_DELAY_MS);
    }
  }
}

async function versionOf(
  { config, documents }: FileServices,
  context: Context,
  resource: Resource,
  file: OpenedFile,
): Promise<Version> {
  const name = fileNameOf(resource.rel);
  const mediaType = mediaTypeOf(resource.rel);
  const isDownload = /^(?:true|1)$/i.test(context.queryValue('download') ?? '');
  const isUtf8 = mediaType.startsWith('text/') && (await documents.isUtf8(resource, file));
  const type = isUtf8 ? `${mediaType}; charset=utf-8` : mediaType;
  return {
    file,
    type,
    etag: tagOf(file),
    mayCompress: resource.kind.family === 'content',
    headers: {
      'Content-Type': type,
      'Content-Disposition': isDownload ? attachment(name) : inline(name),
      'Last-Modified': lastModifiedOf(file),
      'Accept-Ranges': 'bytes',
      Vary: 'Accept, Accept-Encoding',
      ...policyFor(mediaType, config.content.trusted_html),
    },
  };
}

function policyFor(mediaType: string, isTrusted: boolean): Record<string, string> {
  if (PAGE_TYPES.has(mediaType)) {
    return { 'Content-Security-Policy': (isTrusted ? '' : SANDBOX) + PAGE_POLICY };
  }
  return OTHER_ACTIVE_TYPES.test(mediaType) ? { 'Content-Security-Policy': INERT_POLICY } : {};
}

/** Strong: of size, times and inode, which change with every write (file-stamp.ts). */
function tagOf({ stamp }: OpenedFile): string {
  const { inode, size, mtimeNs, ctimeNs } = stamp;
  return sha256Hex(`${inode}.${size}.${mtimeNs}.${ctimeNs}`).slice(0, 32);
}

function lastModifiedOf({ stamp }: OpenedFile): string {
  return new Date(Math.floor(Number(BigInt(stamp.mtimeNs) / 1_000_000n))).toUTCString();
}

async function answerFor(context: Context, version: Version): Promise<Made> {
  const { request, method } = context;
  const { file, etag, headers } = version;
  if (isKnown(context, version)) return held({ ...emptyReply(304, headers), etag });
  const range = request.headers.get('range');
  const mayCut =
    method !== 'HEAD' &&
    rangeHolds(request.headers.get('if-range'), etag, headers['Last-Modified']!);
  const ranges = mayCut ? parseRanges(range, file.size) : null;
  if (ranges === null) {
    return wholeAnswer(context, version, version.mayCompress && range === null);
  }
  const [only] = ranges;
  if (only === undefined) return held(unsatisfiable(version));
  return ranges.length === 1 ? partAnswer(version, only) : partsAnswer(version, ranges);
}

/** Without a body. */
function unsatisfiable({ file, headers }: Version): Reply {
  const { 'Content-Type': _, 'Content-Disposition': __, ...rest } = headers;
  return emptyReply(416, { ...rest, 'Content-Range': `bytes */${file.size}` });
}

function isKnown(context: Context, { etag, headers }: Version): boolean {
  const { headers: asked } = context.request;
  if (asked.has('if-none-match')) return context.isNotModified(etag);
  const since = Date.parse(asked.get('if-modified-since') ?? '');
  return Date.parse(headers['Last-Modified']!) <= since;
}

async function wholeAnswer(
  context: Context,
  version: Version,
  mayCompress: boolean,
): Promise<Made> {
  const { file, type } = version;
  const accepted = context.request.headers.get('accept-encoding');
  const isCompressed =
    mayCompress && file.size > MIN_GZIP_BYTES && isTextLike(type) && acceptsGzip(accepted);
  if (isCompressed) return compressedAnswer(context, version);
  const range = { from: 0, to: file.size };
  return file.size > WHOLE_BYTES
    ? sent(version, range, 200, {})
    : held(response(await file.read(0, file.size), version, 200, {}));
}

/** The server compresses it on its way; a part of it cannot be asked for. */
async function compressedAnswer(
  { method }: Context,
  { file, etag, headers }: Version,
): Promise<Made> {
  const { 'Accept-Ranges': _, ...own } = headers;
  const reply = (body: Reply['body']): Reply => ({ status: 200, headers: own, body, etag });
  if (method === 'HEAD') return held(reply(null));
  if (file.size <= WHOLE_BYTES) return held(reply(await file.read(0, file.size)));
  const bytes = rangeBytes(file, { from: 0, to: file.size });
  return { answer: reply(closing(bytes, file)), needs: 'file' };
}

async function partAnswer(version: Version, range: ByteRange): Promise<Made> {
  const { file } = version;
  const extra = { 'Content-Range': contentRange(range, file.size) };
  const length = range.to - range.from;
  if (length > WHOLE_BYTES) return sent(version, range, 206, extra);
  return held(response(await file.read(range.from, length), version, 206, extra));
}

/** RFC 9110, 14.6. */
async function partsAnswer(version: Version, ranges: readonly ByteRange[]): Promise<Made> {
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
  { file, type }: Version,
  ranges: readonly ByteRange[],
  boundary: string,
): AsyncGenerator<Uint8Array> {
  for (const range of ranges) {
    const place = contentRange(range, file.size);
    const head = `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${place}\r\n\r\n`;
    yield Buffer.from(head, 'latin1');
    yield* rangeBytes(file, range);
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1');
}

/** Throws when the file is no longer what was opened, before its last piece is given away. */
async function* rangeBytes(file: OpenedFile, { from, to }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to;) {
    const bytes = await file.read(at, Math.min(CHUNK_BYTES, to - at));
    at += bytes.length;
    if (bytes.length === 0 || (at >= to && !isUnchanged(file))) {
      throw new Error('The file changed while it was sent');
    }
    yield bytes;
  }
}

/** The same pieces; the file is closed after the last one, and when nobody wants more. */
function closing(pieces: AsyncGenerator<Uint8Array>, file: OpenedFile): AsyncIterable<Uint8Array> {
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
  version: Version,
  { from, to }: ByteRange,
  status: number,
  extra: Readonly<Record<string, string>>,
): Made {
  const { fd, path } = version.file;
  const source = existsSync(DESCRIPTORS) ? `${DESCRIPTORS}/${fd}` : path;
  const body = Bun.file(source).slice(from, to);
  return { answer: response(body, version, status, extra), needs: 'path' };
}

function response(
  body: Uint8Array | Blob | ReadableStream<Uint8Array>,
  { etag, headers }: Version,
  status: number,
  extra: Readonly<Record<string, string>>,
): Response {
  const all = { ...headers, ETag: quotedTag(etag, false), ...extra };
  return new Response(body as Bun.BodyInit, { status, headers: all });
}

function held(answer: Answer): Made {
  return { answer, needs: 'nothing' };
}

function isUnchanged({ fd, stamp }: OpenedFile): boolean {
  return sameContent(stampOf(fstatSync(fd, { bigint: true })), stamp);
}
