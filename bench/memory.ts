/**
 * Memory of a process and its descendants, as Linux counts it in two ways: resident pages, where one that several processes
 * share counts for each of them, and held ones, where it counts once. The executable alone is 45 MB of shared pages in every
 * worker, so resident pages tell little of a tree.
 */
import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 50;
const PAGE_BYTES = 4096;
const MEGABYTE = 1e6;

/** Resident megabytes of the process and everything it started; processes that just ended count nothing. */
export function residentMegabytes(pid: number): number {
  return treeBytes(pid, residentBytes) / MEGABYTE;
}

/**
 * Megabytes that the process and everything it started take from the machine: each page once, or less when processes outside
 * share it. Takes the kernel about a millisecond for each process.
 */
export function heldMegabytes(pid: number): number {
  return treeBytes(pid, heldBytes) / MEGABYTE;
}

type Measure = (pid: number) => number;

function treeBytes(pid: number, bytesOf: Measure): number {
  return childrenOf(pid).reduce((sum, child) => sum + treeBytes(child, bytesOf), bytesOf(pid));
}

function heldBytes(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    // As for residentBytes.
    return 0;
  }
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

  /** `megabytesOf` is one of the measures above. */
  constructor(pid: number, megabytesOf: Measure = residentMegabytes) {
    const sample = (): void => {
      this.#peak = Math.max(this.#peak, megabytesOf(pid));
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
