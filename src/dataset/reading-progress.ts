/**
 * How far the first reading of a file is, told by the worker that reads it in a small file beside the copy it makes: the worker
 * is busy until it ends, so nobody can ask it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { FileSource } from '../base/file-source.ts';

/** How far it is. */
export interface ReadingProgress {
  /** Bytes of the file, of which so many are read. */
  readonly bytes: number;
  readonly size: number;
  /** 2: once more, because a later row changed the type of a column. */
  readonly pass: number;
}

const SUFFIX = '-progress';
const STEP_MS = 200;

/** Tells how far the reading of one file is. */
export class ProgressTeller {
  readonly #path: string;
  #size = 0;
  #bytes = 0;
  #pass = 0;
  #toldAt = 0;

  /** For the copy at `path`. */
  constructor(path: string) {
    this.#path = path + SUFFIX;
  }

  /** The source, of which every reading is counted; it is being read from the beginning. */
  begin(source: FileSource): FileSource {
    const { size } = source;
    this.#size = size;
    this.#bytes = 0;
    this.#pass++;
    return {
      size,
      read: (offset, length) => {
        this.#bytes = Math.min(size, this.#bytes + length);
        this.#tell();
        return source.read(offset, length);
      },
    };
  }

  /** Nothing is left of it. */
  end(): void {
    rmSync(this.#path, { force: true });
  }

  #tell(): void {
    const now = performance.now();
    if (now - this.#toldAt < STEP_MS) return;
    this.#toldAt = now;
    try {
      writeFileSync(this.#path, `${this.#bytes} ${this.#size} ${this.#pass}`, { mode: 0o600 });
    } catch {
      // Only a page that somebody waits at has less to say; the copy itself tells of a full disk.
    }
  }
}

/** How far the reading is that makes the copy at `path`; null when it has told nothing yet. */
export function readingProgress(path: string): ReadingProgress | null {
  try {
    const match = /^(\d+) (\d+) (\d+)$/.exec(readFileSync(path + SUFFIX, 'utf8'));
    return match && { bytes: Number(match[1]), size: Number(match[2]), pass: Number(match[3]) };
  } catch {
    // It has not begun, or has just ended.
    return null;
  }
}
