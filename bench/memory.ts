/**
 * Memory of a process and its descendants, as Linux counts resident pages. Pages that several processes share count
 * once for each, so the sum is an upper limit.
 */
import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 50;
const PAGE_BYTES = 4096;
const MEGABYTE = 1e6;

/** Resident megabytes of the process and everything it started; processes that just ended count nothing. */
export function residentMegabytes(pid: number): number {
  return (
    (residentBytes(pid) + childrenOf(pid).reduce((sum, child) => sum + treeBytes(child), 0)) /
    MEGABYTE
  );
}

function treeBytes(pid: number): number {
  return residentBytes(pid) + childrenOf(pid).reduce((sum, child) => sum + treeBytes(child), 0);
}

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
  } catch {
    // It ended between the listing and the look.
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
        .split(' ')
        .filter((text) => text !== '')
        .map(Number),
    );
  } catch {
    // It ended, or one of its threads did.
    return [];
  }
}

/** Samples the memory of a process tree until it is disposed. */
export class MemoryWatch implements Disposable {
  readonly #timer: Timer;
  #peak = 0;

  constructor(pid: number) {
    const sample = (): void => {
      this.#peak = Math.max(this.#peak, residentMegabytes(pid));
    };
    sample();
    this.#timer = setInterval(sample, SAMPLE_MS);
  }

  /** The most seen so far, in megabytes; a peak shorter than 50 ms may be missed. */
  get peak(): number {
    return this.#peak;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
