/**
 * Media types, gzip and entity tags of request headers. The entity tag of a compressed answer ends in `-gz` inside the
 * quotes and means the same version, so the suffix is removed before tags are compared.
 */

const GZIP_SUFFIX = '-gz';

/**
 * Highest q, then the first in `Accept`. Other parameters are ignored. Null when it names none of them; wildcards do not
 * count.
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

/** By name or wildcard, or without an `Accept`. */
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

interface EntityTag {
  /** Without quotes and suffix. */
  readonly value: string;
  readonly isWeak: boolean;
}

/** Of `If-Match` or `If-None-Match`; `'*'` for any. Malformed ones are left out. */
export function parseEntityTags(header: string): '*' | EntityTag[] {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  for (const [, weak, text = ''] of header.matchAll(/(W\/)?"([^"]*)"/g)) {
    const value = text.endsWith(GZIP_SUFFIX) ? text.slice(0, -GZIP_SUFFIX.length) : text;
    tags.push({ value, isWeak: weak !== undefined });
  }
  return tags;
}

/** Weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const tags = parseEntityTags(ifNoneMatch);
  return tags === '*' || tags.some(({ value }) => value === etag);
}

/** With the suffix of a compressed answer: a 304 then repeats it. */
export function namesGzipped(ifNoneMatch: string | null, etag: string): boolean {
  return ifNoneMatch !== null && ifNoneMatch.includes(`"${etag}${GZIP_SUFFIX}"`);
}

/** Strong. */
export function quotedTag(etag: string, isGzipped: boolean): string {
  return `"${etag}${isGzipped ? GZIP_SUFFIX : ''}"`;
}

/** A plain substring test, as the contract says. */
export function isHtmlClient(accept: string | null): boolean {
  return accept !== null && accept.includes('text/html');
}

/** Smaller bodies gain nothing. */
export const MIN_GZIP_BYTES = 1024;
/** About 2 ms at once; larger bodies go through a stream, which lets others run in between. */
const MAX_SYNC_BYTES = 256 * 1024;

export function isTextLike(contentType: string): boolean {
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  // A compressor would delay events.
  if (type === 'text/event-stream') return false;
  return (
    type.startsWith('text/') ||
    /^(?:application\/(?:json|x-ndjson|xml|javascript|schema\+json)|image\/svg\+xml)$/.test(type) ||
    /\+(?:json|xml)$/.test(type)
  );
}

/** A stream for large ones. */
export function gzipBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array | ReadableStream<Uint8Array> {
  if (bytes.length <= MAX_SYNC_BYTES) return Bun.gzipSync(bytes, { level: 6 });
  return gzipStream(new Blob([bytes]).stream());
}

export function gzipStream(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const gzip: ReadableWritablePair = new CompressionStream('gzip');
  return stream.pipeThrough(gzip);
}
