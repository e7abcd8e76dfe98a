/**
 * Memory that is given back in time: after a burst of large bodies or pages the runtime keeps a gigabyte of what nobody
 * needs any more, and collects it much later.
 */

/** Bytes of garbage after which it is collected; each collection holds the event loop. */
const COLLECTED_BYTES = 64 * 1024 * 1024;
let garbage = 0;

/** Counts what will be garbage as soon as the caller has dropped it. */
export function countGarbage(bytes: number): void {
  garbage += bytes;
  if (garbage < COLLECTED_BYTES) return;
  garbage = 0;
  setImmediate(() => Bun.gc(true));
}
