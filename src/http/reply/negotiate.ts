/**
 * What a client says it wants, read from its headers: media types, gzip, entity tags.
 *
 * A compressed answer has its own entity tag, the plain one with `-gz` at the end inside the quotes; both mean the same
 * version, so the suffix is taken off before tags are compared.
 */

const GZIP_SUFFIX = '-gz';

/**
 * The offered media type the client likes best: highest q, of those the first in `Accept`. Parameters other than q are
 * not looked at. Null when it names none of them; wildcards name nothing here.
 */
export function preferredType(accept: string | null, offered: readonly string[]): string | null {
  let best: string | null = null;
  let bestQuality = 0;
  for (const { value, quality } of weighted(accept)) {
    if (quality <= bestQuality) continue;
    const type = offered.find((candidate) => candidate === value);
    if (type === undefined) continue;
    best = type;
    bestQuality = quality;
  }
  return best;
}

/** Whether the client takes one of the types, by name or by a wildcard; also when it says nothing. */
export function acceptsSome(accept: string | null, offered: readonly string[]): boolean {
  if (accept === null || accept.trim() === '') return true;
  return weighted(accept).some(({ value, quality }) => {
    if (quality === 0) return false;
    const [kind, subtype] = value.split('/');
    return offered.some((type) => type === value || (subtype === '*' && isOfKind(type, kind)));
  });
}

function isOfKind(type: string, kind: string | undefined): boolean {
  return kind === '*' || type.split('/')[0] === kind;
}

/** Whether the client takes gzip. */
export function acceptsGzip(acceptEncoding: string | null): boolean {
  if (acceptEncoding === null) return false;
  const codings = weighted(acceptEncoding);
  const gzip = codings.find(({ value }) => value === 'gzip' || value === 'x-gzip');
  return (gzip ?? codings.find(({ value }) => value === '*'))?.quality! > 0;
}

function weighted(header: string | null): { value: string; quality: number }[] {
  if (header === null) return [];
  return header.split(',').map((entry) => {
    const [value = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const quality = weight === undefined ? 1 : Number(weight.slice(weight.indexOf('=') + 1));
    return { value, quality: quality >= 0 && quality <= 1 ? quality : 0 };
  });
}

/** An entity tag as it stands in a header. */
interface EntityTag {
  /** Without quotes and without the suffix of a compressed answer. */
  readonly value: string;
  readonly isWeak: boolean;
}

/** The tags of `If-Match` or `If-None-Match`; `'*'` for any. What is no tag is left out. */
export function parseEntityTags(header: string): '*' | EntityTag[] {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  for (const [, weak, text = ''] of header.matchAll(/(W\/)?"([^"]*)"/g)) {
    const value = text.endsWith(GZIP_SUFFIX) ? text.slice(0, -GZIP_SUFFIX.length) : text;
    tags.push({ value, isWeak: weak !== undefined });
  }
  return tags;
}

/** Whether `If-None-Match` names the version, by weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const tags = parseEntityTags(ifNoneMatch);
  return tags === '*' || tags.some(({ value }) => value === etag);
}

/** Whether the version is named with the suffix of a compressed answer: a 304 then repeats it so. */
export function namesGzipped(ifNoneMatch: string | null, etag: string): boolean {
  return ifNoneMatch !== null && ifNoneMatch.includes(`"${etag}${GZIP_SUFFIX}"`);
}

/** A strong entity tag with its quotes. */
export function quotedTag(etag: string, isGzipped: boolean): string {
  return `"${etag}${isGzipped ? GZIP_SUFFIX : ''}"`;
}

/** Whether an `Accept` is that of an HTML client: a plain substring test (contract, terms). */
export function isHtmlClient(accept: string | null): boolean {
  return accept !== null && accept.includes('text/html');
}

/** Below this a frame around the body costs more than it saves. */
export const MIN_GZIP_BYTES = 1024;
/** Compressed at once up to here, about 2 ms; larger bodies go through a stream, which lets others run in between. */
const MAX_SYNC_BYTES = 256 * 1024;

export function isTextLike(contentType: string): boolean {
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  // A compressor holds back what an event stream must deliver at once.
  if (type === 'text/event-stream') return false;
  return (
    type.startsWith('text/') ||
    /^(?:application\/(?:json|x-ndjson|xml|javascript|schema\+json)|image\/svg\+xml)$/.test(type) ||
    /\+(?:json|xml)$/.test(type)
  );
}

/** The compressed bytes, or for large ones a stream of them. */
export function gzipBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array | ReadableStream<Uint8Array> {
  if (bytes.length <= MAX_SYNC_BYTES) return Bun.gzipSync(bytes, { level: 6 });
  return gzipStream(new Blob([bytes]).stream());
}

/** The stream, compressed; an error or a cancelled reader passes through in its direction. */
export function gzipStream(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const gzip: ReadableWritablePair = new CompressionStream('gzip');
  return stream.pipeThrough(gzip);
}
