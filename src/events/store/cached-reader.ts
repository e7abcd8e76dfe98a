/**
 * A reading connection that a worker keeps between jobs: opening one costs more than most searches (measured: 0.4 ms
 * of CPU against 0.05 to 0.3).
 *
 * Kept without a snapshot, so it delays neither writers nor checkpoints; closed when idle, and as soon as another
 * file replaces the store.
 */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { EventReader } from './reader.ts';
import { EVENTS_FILE } from './schema.ts';
import { identityOf } from './store-file.ts';
import { EMPTY, hasStore, storeProblem } from './store-problem.ts';
import { INDEX_FILE } from '../read/text-index.ts';

const IDLE_MS = 20_000;
/**
 * Bytes of the store that may be mapped: scans take a fifth less CPU, which the goals in bench/RESULTS.md need. The
 * rest of a larger store is read without mapping.
 *
 * The only exception from `mmap_size 0`: with a failing disk or a truncated file, reading through a mapping kills the
 * process instead of failing the query. Only this read-only worker may die: its caller is asked to retry, and the
 * pool starts another. Server and writer map nothing.
 */
const MAPPED_BYTES = 16 * 2 ** 30;

/** Call `release` once; it ends the snapshot. */
interface TakenReader {
  readonly reader: EventReader;
  release(): void;
}

export class KeptReader {
  #kept: { readonly reader: EventReader; readonly files: string; readonly timer: Timer } | null =
    null;

  /** On a snapshot of now; null when there is no store. */
  take(stateDir: string): TakenReader | null {
    const files = filesIn(stateDir);
    if (files === null) return null;
    const kept = this.#kept;
    this.#kept = null;
    if (kept !== null) clearTimeout(kept.timer);
    if (kept !== null && kept.files !== files) kept.reader.close();
    const isSame = kept !== null && kept.files === files;
    const reader = isSame ? kept.reader : open(stateDir);
    try {
      reader.begin();
    } catch (error) {
      reader.close();
      throw error;
    }
    return { reader, release: () => this.#keep(reader, files) };
  }

  #keep(reader: EventReader, files: string): void {
    try {
      reader.end();
    } catch (error) {
      reader.close();
      throw error;
    }
    // Answers that stream overlap; one kept connection is enough.
    if (this.#kept !== null) return reader.close();
    const timer = setTimeout(() => {
      this.#kept = null;
      reader.close();
    }, IDLE_MS);
    timer.unref();
    this.#kept = { reader, files, timer };
  }
}

function open(stateDir: string): EventReader {
  const reader = new EventReader(stateDir);
  reader.db.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  return reader;
}

/** Changes when the files of the store are replaced; null without a store. */
function filesIn(stateDir: string): string | null {
  const store = identityOf(join(stateDir, EVENTS_FILE));
  if (store === null && hasStore(stateDir)) throw new AppError('unavailable', storeProblem(EMPTY));
  return store && `${stateDir} ${store} ${identityOf(join(stateDir, INDEX_FILE)) ?? ''}`;
}
