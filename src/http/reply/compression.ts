/**
 * gzip for answers made of text.
 */

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
