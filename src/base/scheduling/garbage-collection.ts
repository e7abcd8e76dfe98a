/** After a burst of large bodies or pages the runtime keeps a gigabyte of garbage, and collects it much later. */

/** Bytes of garbage after which it is collected; each collection holds the event loop. */
const COLLECTED_BYTES = 64 * 1024 * 1024;
let garbage = 0;

/**
 * Frees the memory of bytes that nobody uses any more, unless they are a part of something larger. A thousand pieces
 * of 256 KiB otherwise stand in memory before a collection comes.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  if (isWhole && !buffer.detached) buffer.transfer(0);
}

/** Counts what will be garbage as soon as the caller has dropped it. */
export function countGarbage(bytes: number): void {
  if (isCollected(bytes)) setImmediate(() => Bun.gc(true));
}

/** Counts what is garbage by now, for work that does not come back to the event loop before it ends. */
export function collectGarbage(bytes: number): void {
  if (isCollected(bytes)) Bun.gc(true);
}

function isCollected(bytes: number): boolean {
  garbage += bytes;
  if (garbage < COLLECTED_BYTES) return false;
  garbage = 0;
  return true;
}
