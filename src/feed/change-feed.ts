/**
 * What happened to published files, in the order it became known: edits of rows by whom, files that others wrote, uploads,
 * removals. Readers go on from a cursor, after a restart too; what happened while no server ran is found at the next start.
 *
 * Cursors are `<feed>-<number>`: numbers only grow, and another state folder is another feed.
 */
import { timestamp } from '../base/clock.ts';
import type { FileStamp } from '../base/files/file-stamp.ts';
import type { Log } from '../base/log.ts';
import { Lru } from '../base/lru.ts';
import { Mutex } from '../base/scheduling/semaphore.ts';
import { TimeSlice } from '../base/scheduling/time-slice.ts';
import { stemOf } from '../base/paths.ts';
import type { Family } from '../docroot/kind.ts';
import type { Registry, RegistryChange, Resource } from '../docroot/registry/registry.ts';
import type { Database } from '../store/database.ts';
import type { EditFeed, MadeChange } from '../tables/edit/edits.ts';
import type { TableKey } from '../tables/history/change-log.ts';

export interface FeedEntry {
  readonly id: number;
  /** RFC 3339. */
  readonly at: string;
  readonly rel: string;
  readonly sheet: string | null;
  /** As it was listed then, and the form with its extension. */
  readonly names: readonly [string, string];
  readonly family: Family;
  /** Null: another program. */
  readonly username: string | null;
  /** Of rows as in the history; of files `added`, `replaced`, `removed`, or what was done here. */
  readonly action: string;
  /** Rows; 0: the whole file. */
  readonly rowCount: number;
  readonly rowIds: readonly number[] | null;
  /** In the history of the table; null when it keeps none. */
  readonly changeId: number | null;
}

type NewEntry = Omit<FeedEntry, 'id' | 'at'>;

interface FeedOptions {
  readonly db: Database;
  readonly registry: Registry;
  readonly maxEntries: () => number;
  readonly now: () => number;
  readonly log: Log;
}

/** Read by all who are up to date without asking the database. */
const MAX_RECENT = 1_000;
const MAX_ROW_IDS = 100;
/** Entries that a power loss may have taken had lower numbers. */
const GAP = 1_000;
const PRUNE_EVERY = 500;
/** Waiting for a disk with room. */
const MAX_WAITING = 10_000;
/** Who did it is known before the file is seen; both are a moment apart. */
const AUTHOR_MS = 60_000;
const MAX_OWN = 10_000;
const STARTED = 'started';

interface Author {
  readonly username: string;
  readonly action: string;
  readonly until: number;
}

export class ChangeFeed implements EditFeed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<() => void>();
  readonly #work = new Mutex();
  readonly #authors = new Map<string, Author>();
  /** Edits that are replacing a file now. */
  readonly #writing = new Map<string, Promise<void>>();
  /** Versions that edits made, with their files. */
  readonly #own = new Lru<string, true>(MAX_OWN);
  #recent: FeedEntry[] = [];
  #waiting: { readonly entries: readonly NewEntry[]; readonly stamps: Stamps }[] = [];
  #identity = '';
  #newest = 0;
  #written = 0;
  #isFollowing = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    options.registry.onChange((change) => {
      if (this.#isFollowing) void this.#afterEdits(change);
    });
  }

  /** Once all files are listed. Finds what happened while nobody looked. */
  async start(): Promise<void> {
    const { db, registry, now } = this.#options;
    await this.#open();
    this.#isFollowing = true;
    await this.#work.run(async () => {
      const { has_files: hasFiles } = (await db.get<{ has_files: number }>(
        'SELECT has_files FROM feed_identity',
      ))!;
      if (this.#newest > 0) {
        const start = { ...NOBODYS, id: this.#newest + GAP, at: timestamp(now()), action: STARTED };
        await db.transaction((tx) => insert(tx, start));
        this.#newest = start.id;
      }
      const known = new Map(
        (await db.all<{ rel: string; stamp: string }>('SELECT rel, stamp FROM feed_files')).map(
          ({ rel, stamp }) => [rel, stamp],
        ),
      );
      const entries: NewEntry[] = [];
      const stamps: Stamps = new Map();
      const slice = new TimeSlice();
      for (const resource of registry.list()) {
        if (slice.isOver) await slice.rest();
        const stamp = stampText(registry.stampOf(resource));
        const before = known.get(resource.rel);
        if (stamp === null || stamp === before) continue;
        stamps.set(resource.rel, stamp);
        if (hasFiles === 1)
          entries.push(fileEntry(resource, before === undefined ? 'added' : 'replaced'));
      }
      const published = new Set(registry.list().map(({ rel }) => rel));
      for (const rel of known.keys()) {
        if (published.has(rel) || registry.isAway(rel) || registry.isUnlisted(rel)) continue;
        stamps.set(rel, null);
        entries.push({ ...NOBODYS, rel, names: [stemOf(rel), rel], action: 'removed' });
      }
      await this.#append(entries, stamps, db);
      await db.relaxed.run('UPDATE feed_identity SET has_files = 1');
    });
  }

  /** Also for a process that only reads the feed. */
  async #open(): Promise<void> {
    if (this.#identity !== '') return;
    const { db } = this.#options;
    const row = await db.get<{ id: string; newest: number }>(
      'SELECT id, (SELECT coalesce(max(id), 0) FROM feed) AS newest FROM feed_identity',
    );
    this.#newest = row!.newest;
    this.#identity = row!.id;
  }

  /** What this process did so far can be read. */
  settled(): Promise<void> {
    return this.#work.run(() => undefined);
  }

  /** Where whoever has seen everything goes on. */
  async newest(): Promise<string> {
    await this.#open();
    return this.cursorOf(this.#newest);
  }

  cursorOf(id: number): string {
    return `${this.#identity}-${id}`;
  }

  /** Null: entries after it are gone, or it is of another feed. `0` is the oldest entry that may be gone. */
  async placeOf(cursor: string): Promise<number | null> {
    await this.#open();
    const [, identity, digits] = /^([0-9a-f]{8})-([0-9]{1,15})$/.exec(cursor) ?? [];
    const id = Number(digits);
    if (identity !== this.#identity || id > this.#newest) return null;
    return id === this.#newest || id >= (await this.#oldest()) - 1 ? id : null;
  }

  /** The cursor before the oldest entry there is. */
  async first(): Promise<string> {
    await this.#open();
    return this.cursorOf(Math.max(0, (await this.#oldest()) - 1));
  }

  async #oldest(): Promise<number> {
    const row = await this.#options.db.get<{ id: number | null }>('SELECT min(id) AS id FROM feed');
    return row?.id ?? this.#newest + 1;
  }

  /** The oldest after `id`, in order. */
  async after(id: number, limit: number): Promise<readonly FeedEntry[]> {
    if (id >= this.#newest) return [];
    const [first] = this.#recent;
    if (first !== undefined && id >= first.id) {
      const from = this.#recent.findIndex((entry) => entry.id > id);
      return this.#recent.slice(from, from + limit);
    }
    const rows = await this.#options.db.all<StoredEntry>(
      `SELECT * FROM feed WHERE id > ? AND action <> '${STARTED}' ORDER BY id LIMIT ?`,
      [id, limit],
    );
    return rows.map(readEntry);
  }

  /** The newest older than `id`, newest first; null: of all. */
  async before(id: number | null, limit: number): Promise<readonly FeedEntry[]> {
    const rows = await this.#options.db.all<StoredEntry>(
      `SELECT * FROM feed WHERE id < ? AND action <> '${STARTED}' ORDER BY id DESC LIMIT ?`,
      [id ?? Number.MAX_SAFE_INTEGER, limit],
    );
    return rows.map(readEntry);
  }

  /** Called after entries were added. Returns the function that unsubscribes. */
  onAppend(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Says who is about to change a file, and how, for the entry that its new state gets. */
  attribute(rel: string, username: string, action: string): void {
    const now = this.#options.now();
    for (const [known, { until }] of this.#authors) {
      if (until < now) this.#authors.delete(known);
    }
    this.#authors.set(rel, { username, action, until: now + AUTHOR_MS });
  }

  /** An edit replaces the file until the returned function is called. */
  writing(rel: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writing.set(rel, promise);
    return () => {
      if (this.#writing.get(rel) === promise) this.#writing.delete(rel);
      resolve();
    };
  }

  /** What edits did, with one replacement of the file. `also`: other tables of it that follow. */
  made(
    { rel, sheet }: TableKey,
    changes: readonly MadeChange[],
    stamp: FileStamp,
    also: readonly TableKey[],
  ): Promise<void> {
    const named = (key: TableKey): Pick<NewEntry, 'rel' | 'sheet' | 'names' | 'family'> => {
      const resource = this.#options.registry.get(key.rel, key.sheet);
      if (resource !== null) return placeOf(resource);
      return { ...key, names: [stemOf(key.rel), key.rel], family: 'dataset' };
    };
    const entries = changes.map(({ id, entry: { username, action, changes: rows } }) => ({
      ...named({ rel, sheet }),
      username,
      action,
      rowCount: rows.length,
      rowIds: rows.slice(0, MAX_ROW_IDS).map(({ rowId }) => rowId),
      changeId: id,
    }));
    const [first] = changes;
    const followers = also.map((key) => ({
      ...NOBODYS,
      ...named(key),
      username: first?.entry.username ?? null,
      action: 'recalculated',
    }));
    const text = stampText(stamp);
    const stamps: Stamps = new Map([[rel, text]]);
    this.#own.set(`${rel}\0${text}`, true);
    return this.#work.run(() =>
      this.#append([...entries, ...followers], stamps, this.#options.db.relaxed),
    );
  }

  /** An edit that is about to tell of its replacement does so first. */
  async #afterEdits(change: RegistryChange): Promise<void> {
    const rels = [...change.added, ...change.changed].map(({ rel }) => rel);
    await Promise.all(rels.map((rel) => this.#writing.get(rel)));
    await this.#work.run(() => this.#follow(change));
  }

  async #follow({ added, changed, removed }: RegistryChange): Promise<void> {
    const { registry, db } = this.#options;
    const entries: NewEntry[] = [];
    const stamps: Stamps = new Map();
    const stored = async (rel: string): Promise<string | null> => {
      const row = await db.get<{ stamp: string }>('SELECT stamp FROM feed_files WHERE rel = ?', [
        rel,
      ]);
      return row?.stamp ?? null;
    };
    const known = new Map<string, string | null>();
    for (const resource of [...added, ...changed]) {
      const { rel } = resource;
      const stamp = stampText(registry.stampOf(resource));
      // A look may be behind the edits that followed what it saw.
      if (stamp === null || this.#own.get(`${rel}\0${stamp}`) === true) continue;
      if (!known.has(rel)) known.set(rel, await stored(rel));
      const before = known.get(rel);
      if (stamp === before) continue;
      stamps.set(rel, stamp);
      entries.push(this.#attributed(resource, before === null ? 'added' : 'replaced'));
    }
    for (const resource of removed) {
      const { rel, sheet } = resource;
      if (registry.get(rel, sheet) !== null || registry.isAway(rel)) continue;
      const isGone = registry.stampOf(resource) === null;
      if (isGone) stamps.set(rel, null);
      entries.push(this.#attributed(resource, 'removed'));
    }
    for (const { rel } of entries) this.#authors.delete(rel);
    await this.#append(entries, stamps, db);
  }

  #attributed(resource: Resource, action: string): NewEntry {
    const author = this.#authors.get(resource.rel);
    const entry = fileEntry(resource, action);
    if (author === undefined || author.until < this.#options.now()) return entry;
    return { ...entry, username: author.username, action: author.action };
  }

  /** What cannot be written now is written with the next. */
  async #append(added: readonly NewEntry[], changed: Stamps, db: Database): Promise<void> {
    if (added.length > 0 || changed.size > 0)
      this.#waiting.push({ entries: added, stamps: changed });
    if (this.#waiting.length === 0) return;
    await this.#open();
    const at = timestamp(this.#options.now());
    const made: FeedEntry[] = [];
    const waiting = [...this.#waiting];
    try {
      await db.transaction(async (tx) => {
        const row = await tx.get<{ id: number | null }>('SELECT max(id) AS id FROM feed');
        let id = Math.max(row?.id ?? 0, this.#newest);
        for (const { entries, stamps } of waiting) {
          for (const entry of entries) {
            const next = { ...entry, id: ++id, at };
            await insert(tx, next);
            made.push(next);
          }
          for (const [rel, stamp] of stamps) await keepStamp(tx, rel, stamp);
        }
      });
    } catch (error) {
      if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
      this.#options.log.warning('changes of files wait to be told to readers', { error });
      return;
    }
    this.#waiting = this.#waiting.slice(waiting.length);
    if (made.length === 0) return;
    this.#newest = made.at(-1)!.id;
    this.#recent = [...this.#recent, ...made].slice(-MAX_RECENT);
    this.#written += made.length;
    if (this.#written >= PRUNE_EVERY) await this.prune();
    for (const listener of this.#listeners) listener();
  }

  async prune(): Promise<void> {
    this.#written = 0;
    const last = this.#newest - this.#options.maxEntries();
    if (last <= 0) return;
    try {
      await this.#options.db.relaxed.run('DELETE FROM feed WHERE id <= ?', [last]);
      this.#recent = this.#recent.filter(({ id }) => id > last);
    } catch (error) {
      this.#options.log.warning('old entries of the feed of changes were not removed', { error });
    }
  }
}

/** By rel; null: the file is gone. */
type Stamps = Map<string, string | null>;

interface StoredEntry extends Pick<
  FeedEntry,
  'id' | 'at' | 'rel' | 'family' | 'username' | 'action'
> {
  readonly sheet: string;
  readonly name: string;
  readonly long_name: string;
  readonly row_count: number;
  readonly row_ids: string | null;
  readonly change_id: number | null;
}

const NOBODYS: NewEntry = {
  rel: '',
  sheet: null,
  names: ['', ''],
  family: 'content',
  username: null,
  action: '',
  rowCount: 0,
  rowIds: null,
  changeId: null,
};

function placeOf(resource: Resource): Pick<NewEntry, 'rel' | 'sheet' | 'names' | 'family'> {
  const { rel, sheet, canonical, extensionForm, family } = resource;
  return { rel, sheet, names: [canonical, extensionForm], family };
}

function fileEntry(resource: Resource, action: string): NewEntry {
  return { ...NOBODYS, ...placeOf(resource), action };
}

function readEntry(row: StoredEntry): FeedEntry {
  const { id, at, rel, sheet, name, long_name, family, username, action } = row;
  return {
    ...{ id, at, rel, family, username, action },
    sheet: sheet === '' ? null : sheet,
    names: [name, long_name],
    rowCount: row.row_count,
    rowIds: row.row_ids === null ? null : (JSON.parse(row.row_ids) as number[]),
    changeId: row.change_id,
  };
}

async function insert(tx: Database, entry: FeedEntry): Promise<void> {
  const { id, at, rel, sheet, names, family, username, action, rowCount, rowIds, changeId } = entry;
  await tx.run(
    `INSERT INTO feed (id, at, rel, sheet, name, long_name, family, username, action, row_count, row_ids, change_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[id, at, rel, sheet ?? '', ...names, family, username, action, rowCount],
      rowIds === null ? null : JSON.stringify(rowIds),
      changeId,
    ],
  );
}

async function keepStamp(tx: Database, rel: string, stamp: string | null): Promise<void> {
  if (stamp === null) await tx.run('DELETE FROM feed_files WHERE rel = ?', [rel]);
  else {
    await tx.run(
      'INSERT INTO feed_files (rel, stamp) VALUES (?, ?) ON CONFLICT (rel) DO UPDATE SET stamp = excluded.stamp',
      [rel, stamp],
    );
  }
}

/** What a copy of the folder keeps: neither new names and rights nor another disk are new content. */
function stampText(stamp: FileStamp | null): string | null {
  return stamp && `${stamp.size}-${stamp.mtimeNs}`;
}
