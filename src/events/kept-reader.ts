/**
 * A reading connection that a worker keeps between its jobs: opening one costs more than most searches (0.4 ms of CPU
 * against 0.05 to 0.3, measured).
 *
 * Kept without a snapshot, so it holds up neither writers nor the folding of their log; closed when nobody asked for a while,
 * and as soon as another file lies in the place of the one it reads.
 */
import { join } from 'node:path';
import { EventReader } from './reader.ts';
import { EVENTS_FILE } from './schema.ts';
import { identityOf } from './store-file.ts';
import { INDEX_FILE } from './text-index.ts';

const IDLE_MS = 20_000;
/**
 * Address space a reader may see of the store without copying it: a scan takes a fifth less CPU, which its goals in
 * bench/RESULTS.md were reached with. More of a larger store is read as before.
 *
 * The one exception from `mmap_size 0`: where a disk fails, or somebody else cuts the file off, reading through a mapping ends
 * the process instead of the query. This one is a worker that reads only and may die: its caller is told to try again
 * later, and the pool starts another. The server and the writer map nothing.
 */
const MAPPED_BYTES = 16 * 2 ** 30;

/** A reader inside a snapshot; `release` ends the snapshot and must be called once. */
interface TakenReader {
  readonly reader: EventReader;
  release(): void;
}

/** The connection of one process. */
export class KeptReader {
  #kept: { readonly reader: EventReader; readonly files: string; readonly timer: Timer } | null =
    null;

  /** A reader of the store in the directory, on a snapshot of now; null when there is no store. */
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
    // Two at once happen when an answer streams; one is enough to keep.
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

/** Tells the files of a store from others put in their place; null without a store. */
function filesIn(stateDir: string): string | null {
  const store = identityOf(join(stateDir, EVENTS_FILE));
  return store && `${stateDir} ${store} ${identityOf(join(stateDir, INDEX_FILE)) ?? ''}`;
}
