/**
 * The event store opened by a command in its own process, with or without a server running.
 *
 * SQLite allows one writing process at a time; transactions are small, so the server waits milliseconds.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../../store/state-files.ts';
import { dialects } from '../intake/dialects/index.ts';
import type { IndexTotals } from '../read/index-totals.ts';
import { indexTotals } from '../read/index-totals.ts';
import type { Written } from '../intake/writer-queue.ts';
import type { PrunedStore } from '../retention/retention.ts';
import { partBytes } from '../parts/manifest.ts';
import { EVENTS_FILE } from './schema.ts';
import { EventStore } from './store.ts';
import { Writer } from './writer.ts';
import { translated } from './writer-jobs.ts';
import type { Framed, WriterOrder, WriterResult, WriterSettings } from './writer-orders.ts';

export class DirectStore implements PrunedStore {
  readonly store: EventStore;
  readonly #writer: Writer;
  readonly ingest = { submit: (order: WriterOrder, body: Uint8Array) => this.#submit(order, body) };

  /** Creates folder and store when missing. Throws `state-unusable` for a damaged store. */
  constructor(stateDir: string, settings: WriterSettings) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    this.store = new EventStore(join(stateDir, EVENTS_FILE));
    const now = (): number => Date.now() * 1000;
    const folder = stateFolder(stateDir, 'tmp');
    this.#writer = new Writer({ store: this.store, dialects, settings, now, folder });
  }

  async open(): Promise<void> {}

  indexTotals(): IndexTotals[] {
    return indexTotals(this.store.db);
  }

  sizeInUse(): number {
    const one = (pragma: string): number =>
      Number(Object.values(this.store.db.query(`PRAGMA ${pragma}`).get() as object)[0]);
    const pages = (one('page_count') - one('freelist_count')) * one('page_size');
    return pages + partBytes(this.store.db);
  }

  /** Throws `unavailable`, `state-unusable`. */
  run(batch: readonly Framed<WriterOrder>[]): Framed<WriterResult>[] {
    try {
      return this.#writer.run(batch);
    } catch (error) {
      throw translated(error);
    }
  }

  close(): void {
    this.store.close();
  }

  async #submit(order: WriterOrder, body: Uint8Array): Promise<Written> {
    // Lets the server's writer in between two steps.
    await Bun.sleep(1);
    const [written] = this.run([{ head: order, body }]);
    return { result: written!.head, body: written!.body };
  }
}
