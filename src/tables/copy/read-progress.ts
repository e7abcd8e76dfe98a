/** The worker that reads a file is busy until the end, so it writes its progress to a small file beside the copy. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { FileSource } from '../../base/files/file-source.ts';

export interface ReadProgress {
  readonly bytes: number;
  readonly size: number;
  /** 2: a second reading, because a later row changed a column's type. */
  readonly pass: number;
}

const SUFFIX = '-progress';
const STEP_MS = 200;

export class ProgressWriter {
  readonly #path: string;
  #size = 0;
  #bytes = 0;
  #pass = 0;
  #reportedAt = 0;

  /** For the copy at `path`. */
  constructor(path: string) {
    this.#path = path + SUFFIX;
  }

  begin(source: FileSource): FileSource {
    const { size } = source;
    this.#size = size;
    this.#bytes = 0;
    this.#pass++;
    return {
      size,
      read: (offset, length) => {
        this.#bytes = Math.min(size, this.#bytes + length);
        this.#report();
        return source.read(offset, length);
      },
    };
  }

  end(): void {
    rmSync(this.#path, { force: true });
  }

  #report(): void {
    const now = performance.now();
    if (now - this.#reportedAt < STEP_MS) return;
    this.#reportedAt = now;
    try {
      writeFileSync(this.#path, `${this.#bytes} ${this.#size} ${this.#pass}`, { mode: 0o600 });
    } catch {
      // Only a waiting page shows less; a full disk is reported by the copy itself.
    }
  }
}

/** For the copy at `path`; null when nothing was reported yet. */
export function readProgress(path: string): ReadProgress | null {
  try {
    const match = /^(\d+) (\d+) (\d+)$/.exec(readFileSync(path + SUFFIX, 'utf8'));
    return match && { bytes: Number(match[1]), size: Number(match[2]), pass: Number(match[3]) };
  } catch {
    return null;
  }
}
