/** Opened when first named, each inside one snapshot, limited to what the caller may read. */
import { Database } from 'bun:sqlite';
import { openReader } from '../../tables/read/connection.ts';
import { readMeta } from '../../tables/copy/table-meta.ts';
import type { SourceName, StageContext } from '../command.ts';
import { Schema } from '../run/schema.ts';
import { datasetSource, type DatasetOrder } from './dataset.ts';
import { eventSource, type EventStore } from './events.ts';
import { requireLookedUp, type SearchScope } from './looked-up.ts';
import { EVENT_COLUMNS, type Source } from './source.ts';
import { SqlSource } from './sql-source.ts';

/** Given by `event-queries.ts`. */
export interface SearchParts {
  /** Begins a snapshot; null when there is no store. `close` ends it. */
  readonly openEvents: (directory: string) => (EventStore & { close(): void }) | null;
  readonly extract: StageContext['extract'];
}

export class Stale extends Error {}

export class OpenSources {
  usedIndex = false;
  usedColumns = false;
  readonly #scope: SearchScope;
  readonly #parts: SearchParts;
  readonly #closers: (() => void)[] = [];
  #problems: () => readonly string[] = () => [];
  #plainFields: () => readonly string[] = () => [];
  #events: Source | undefined;

  constructor(scope: SearchScope, parts: SearchParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** What could not be read so far, so that the answer lacks it. */
  get problems(): readonly string[] {
    return this.#problems();
  }

  /** Of events, looked for in their JSON where a column would be quicker. */
  get plainFields(): readonly string[] {
    return this.#plainFields();
  }

  get readableIndexes(): readonly string[] | null {
    return this.#openEvents().readableIndexes;
  }

  /** Null when there is none the caller may read. Throws Stale and UnknownYet. */
  open(name: SourceName): Source | null {
    if (name.kind === 'events') return this.#openEvents();
    if (name.kind === 'audit') return this.#openAudit();
    const order = requireLookedUp(this.#scope.datasets, 'datasets', name.name);
    return order && this.#openDataset(order);
  }

  #openEvents(): Source {
    if (this.#events) return this.#events;
    const { eventStore, grants } = this.#scope;
    const store = eventStore === null ? null : this.#parts.openEvents(eventStore);
    if (store === null) {
      this.#events = noEvents;
      return noEvents;
    }
    this.#closers.push(() => store.close());
    this.#problems = () => store.sealed?.problems() ?? [];
    this.#plainFields = () => store.sealed?.plainFields() ?? [];
    this.#events = eventSource(
      store,
      grants,
      () => {
        this.usedIndex = true;
      },
      (isUsed) => {
        this.usedColumns = isUsed;
      },
    );
    return this.#events;
  }

  #openAudit(): Source | null {
    const { auditDatabase } = this.#scope;
    return auditDatabase === null ? null : auditSource(this.#openFile(auditDatabase));
  }

  #openDataset(order: DatasetOrder): Source {
    let db: Database;
    try {
      db = this.#openFile(order.path);
    } catch {
      // A newer version replaced and deleted the file.
      throw new Stale();
    }
    if ((readMeta(db, 'state')?.sequence ?? 0) !== order.sequence) throw new Stale();
    return datasetSource(db, order, (isUsed) => {
      this.usedColumns = isUsed;
    });
  }

  #openFile(path: string): Database {
    const db = openReader(path);
    this.#closers.push(() => {
      if (db.inTransaction) db.run('ROLLBACK');
      db.close();
    });
    db.run('BEGIN');
    return db;
  }

  /** What else is to be closed with the sources. */
  onClose(close: () => void): void {
    this.#closers.push(close);
  }

  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }
}

const noEvents: Source = {
  name: 'events',
  schema: new Schema(EVENT_COLUMNS),
  readableIndexes: null,
  read: () => [],
};

function auditSource(db: Database): SqlSource {
  // Stored with milliseconds; shown with microseconds like all times.
  const time = `substr(timestamp, 1, 19) || '.' || substr(rtrim(substr(timestamp, 21), 'Z') || '000000', 1, 6) || 'Z'`;
  return new SqlSource({
    name: 'audit',
    db,
    from: 'audit',
    columns: [
      { name: 'id', type: 'int', sql: 'id', form: 'plain', isDiverse: true, isSortable: true },
      { name: 'timestamp', type: 'time', sql: time, form: 'plain', isDiverse: true },
      { name: 'user_id', type: 'int', sql: 'user_id', form: 'plain' },
      { name: 'action', type: 'text', sql: 'action', form: 'plain' },
      { name: 'resource', type: 'text', sql: 'resource', form: 'plain' },
      { name: 'details', type: 'text', sql: 'details', form: 'plain', isDiverse: true },
      { name: 'ip_address', type: 'text', sql: 'ip_address', form: 'plain' },
      { name: '_time', type: 'time', sql: time, form: 'plain', isHidden: true, isDiverse: true },
    ],
    orders: { forward: 'id', newest: 'audit.timestamp DESC, id DESC' },
    restriction: null,
    readableIndexes: null,
    hasWideIntegers: false,
  });
}
