/**
 * Keeps the index in step with what is published: a few resources at a time, small ones first.
 *
 * A resource is read anew when its version differs: the stamp of a document's file, the generation and sequence of a
 * typed copy. Rows changed through the service are updated one by one; after a failure the resource is read again.
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { shortId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { stemOf } from '../base/paths.ts';
import { Turn } from '../processes/turn.ts';
import type { Table } from '../tables/copy/table.ts';
import { areTitlesWritten, heldResources } from './held-resources.ts';
import type { IndexClient } from './index-client.ts';
import { DAMAGED, isDamageNoted } from './index-file.ts';
import type { DocumentEntry, IndexedResource } from './index-writer.ts';
import { type Contents, keyOf, type Published, type PublishedResource } from './publisher.ts';

/** Raised when documents or rows give other words: everything is then read again. */
const CONTENT_FORMAT = 1;
/** Resources read at once: a small one must not wait for a large one. */
const MAX_RUNNING = 3;
/** Of these, files past this size one at a time, so that a parse worker is left for requests. */
const LARGE_BYTES = 4 * 1024 * 1024;
const MAX_ATTEMPTS = 5;
/** Time without a change before the index is tidied. */
const QUIET_MS = 3_000;

interface Range {
  readonly no: number;
  /** Of the typed copy the rows were read from; null for documents. */
  readonly generation: string | null;
  /** File name of that copy; null for documents. */
  readonly copy: string | null;
  /** Empty until the range is complete. */
  version: string;
  documents: number;
  leftOut: number;
  /** A change failed to reach it. */
  isBroken: boolean;
}

export interface IndexCounts {
  indexed: number;
  documents: number;
  skipped: number;
  pruned: number;
}

type Target = Pick<PublishedResource, 'rel' | 'sheet'>;

interface IndexerOptions {
  readonly client: IndexClient;
  readonly path: string;
  readonly published: Published;
  readonly contents: Contents;
  readonly temporary: string;
  readonly snapshot: string;
  readonly limits: () => { readonly maxBytes: number; readonly maxRows: number };
  readonly log: Log;
}

interface Waiting {
  readonly resource: PublishedResource;
  readonly isForced: boolean;
  readonly turn: Turn;
  readonly settled: PromiseWithResolvers<IndexedCount | null>;
}

type IndexedCount = { readonly documents: number } | 'skipped';

export class Indexer {
  readonly #options: IndexerOptions;
  readonly #live = new Map<string, Range>();
  readonly #building = new Map<string, Range>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, Waiting>();
  /** Queued ones somebody waits for. */
  readonly #awaited = new Set<string>();
  /** Slots taken by running ones that are neither awaited nor known to be long. */
  #places = 0;
  #isLargeRunning = false;
  #quiet: Timer | null = null;
  #isUntidy = false;
  #isClosed = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Without the worker when there is nothing to do. Deletes a damaged index. */
  async open(): Promise<void> {
    const { path, snapshot } = this.#options;
    const known = isDamageNoted(path) ? null : heldResources(path);
    const held = known ?? (await this.#askLive());
    for (const { key, ...range } of held)
      this.#live.set(key, {
        ...emptyRange(range.no),
        ...range,
        generation: generationOf(range.version),
      });
    if (known === null || !areTitlesWritten(path, snapshot)) this.#tidyLater();
  }

  #askLive(): Promise<IndexedResource[]> {
    const { client, log, path } = this.#options;
    const asked = isDamageNoted(path)
      ? Promise.reject(new AppError('unavailable', DAMAGED))
      : client('live');
    return asked.catch(async (error: unknown) => {
      log.warning('the search index cannot be read and is built again', { error });
      await client('reset');
      return [];
    });
  }

  /** Whether searches read rows from the typed copy of that name. */
  reads(copy: string): boolean {
    for (const ranges of [this.#live, this.#building])
      for (const range of ranges.values()) if (range.copy === copy) return true;
    return false;
  }

  rangeOf(resource: PublishedResource): number | null {
    return this.#live.get(keyOf(resource))?.no ?? null;
  }

  get leavesOut(): boolean {
    for (const { leftOut } of this.#live.values()) if (leftOut > 0) return true;
    return false;
  }

  leftOutOf(resource: PublishedResource): number {
    return this.#live.get(keyOf(resource))?.leftOut ?? 0;
  }

  get documents(): number {
    let documents = 0;
    for (const range of this.#live.values()) documents += range.documents;
    return documents;
  }

  get pending(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** At least as it was at the call. */
  async settled(resource: PublishedResource): Promise<void> {
    const key = keyOf(resource);
    const turn = new Turn();
    this.#running.get(key)?.turn.join(turn);
    this.#waiting.get(key)?.turn.join(turn);
    this.#awaited.add(key);
    this.#startNext();
    // Both: the queued one begins when the running one ends.
    await Promise.all([
      this.#running.get(key)?.settled.promise,
      this.#waiting.get(key)?.settled.promise,
    ]);
  }

  /** Null: it could not be read. */
  follow(resource: PublishedResource, isForced = false): Promise<IndexedCount | null> {
    if (this.#isClosed) return Promise.resolve(null);
    const key = keyOf(resource);
    const known = this.#waiting.get(key);
    const settled = known?.settled ?? Promise.withResolvers<IndexedCount | null>();
    const isStillForced = isForced || known?.isForced === true;
    const turn = known?.turn ?? Turn.background();
    this.#waiting.set(key, { resource, isForced: isStillForced, turn, settled });
    this.#startNext();
    return settled.promise;
  }

  async prune(): Promise<number> {
    const present = new Set(this.#options.published.list().map(keyOf));
    const gone = [...this.#live.keys()].filter((key) => !present.has(key));
    await this.#forget(gone);
    return gone.length;
  }

  remove(resources: readonly PublishedResource[]): Promise<void> {
    for (const resource of resources) {
      const waiting = this.#waiting.get(keyOf(resource));
      this.#waiting.delete(keyOf(resource));
      waiting?.settled.resolve(null);
    }
    return this.#forget(resources.map(keyOf));
  }

  /** The typed copy has the change already. Never rejects. */
  async edited(
    target: Target,
    table: Table,
    rows: { readonly put: readonly number[]; readonly remove: readonly number[] },
  ): Promise<void> {
    const { client, log } = this.#options;
    const key = keyOf(target);
    const version = versionOf(table, this.#options.limits().maxRows);
    const ranges = [this.#building.get(key), this.#live.get(key)];
    await Promise.all(
      ranges.map(async (range) => {
        if (range === undefined || range.generation !== table.head.generation) return;
        const isComplete = range.version !== '';
        if (isComplete) range.version = version;
        try {
          const order = { no: range.no, copy: table.path, ...rows };
          range.documents += await client('edit', {
            ...order,
            version: isComplete ? version : null,
          });
        } catch (error) {
          range.isBroken = true;
          if (this.#isClosed) return;
          log.warning('changed rows did not reach the search index', { resource: key, error });
          this.#followKey(key);
        }
      }),
    );
    this.#tidyLater();
  }

  /** For a new version whose rows did not change. */
  async restamped(target: Target, table: Table): Promise<void> {
    const range = this.#live.get(keyOf(target));
    if (range === undefined || range.generation !== table.head.generation) return;
    range.version = versionOf(table, this.#options.limits().maxRows);
    await this.#options.client('version', { no: range.no, version: range.version });
  }

  close(): void {
    this.#isClosed = true;
    if (this.#quiet) clearTimeout(this.#quiet);
    for (const { settled } of this.#waiting.values()) settled.resolve(null);
    this.#waiting.clear();
  }

  async #forget(keys: readonly string[]): Promise<void> {
    const nos: number[] = [];
    for (const key of keys) {
      for (const ranges of [this.#live, this.#building]) {
        const range = ranges.get(key);
        ranges.delete(key);
        if (range === undefined) continue;
        nos.push(range.no);
        this.#release(range);
      }
    }
    if (nos.length === 0 || this.#isClosed) return;
    await this.#options.client('abandon', { nos });
    this.#tidyLater();
  }

  #release({ copy }: Range): void {
    if (copy !== null && !this.#isClosed && !this.reads(copy)) this.#options.contents.release(copy);
  }

  #followKey(key: string): void {
    const [rel = '', sheet = null] = key.split('\n');
    const resource = this.#options.published.get(rel, sheet);
    if (resource !== null) void this.follow(resource);
  }

  #startNext(): void {
    if (this.#isClosed) return;
    const next = this.#takeAwaited() ?? (this.#places < MAX_RUNNING ? this.#takeSmallest() : null);
    if (next === null) return;
    const key = keyOf(next.resource);
    const isLarge = next.turn.isBackground && this.#sizeOf(next.resource) > LARGE_BYTES;
    if (isLarge) this.#isLargeRunning = true;
    this.#running.set(key, next);
    const bringing = this.#bring(next);
    if (next.turn.isBackground) {
      this.#places += 1;
      void Promise.race([bringing, next.turn.long]).then(() => {
        this.#places -= 1;
        if (isLarge) this.#isLargeRunning = false;
        this.#startNext();
      });
    }
    void bringing.then((count) => {
      this.#running.delete(key);
      next.settled.resolve(count);
      this.#startNext();
      if (count !== 'skipped') this.#isUntidy = true;
      if (this.pending === 0 && this.#isUntidy) this.#tidyLater();
    });
    this.#startNext();
  }

  #takeAwaited(): Waiting | null {
    for (const key of this.#awaited) {
      if (this.#running.has(key)) continue;
      const waiting = this.#waiting.get(key) ?? null;
      this.#awaited.delete(key);
      this.#waiting.delete(key);
      if (waiting !== null) return waiting;
    }
    return null;
  }

  #takeSmallest(): Waiting | null {
    let best: { key: string; waiting: Waiting; size: number } | null = null;
    for (const [key, waiting] of this.#waiting) {
      if (this.#running.has(key)) continue;
      const size = this.#sizeOf(waiting.resource);
      if (size > LARGE_BYTES && this.#isLargeRunning) continue;
      if (best === null || size < best.size) best = { key, waiting, size };
      // Good enough: finding the very smallest among thousands would cost more than it saves.
      if (size < LARGE_BYTES / 64) break;
    }
    if (best !== null) this.#waiting.delete(best.key);
    return best?.waiting ?? null;
  }

  #sizeOf(resource: PublishedResource): number {
    return this.#options.published.stampOf(resource)?.size ?? 0;
  }

  async #bring({ resource, isForced, turn }: Waiting): Promise<IndexedCount | null> {
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return resource.kind.dataset
            ? await this.#bringDataset(resource, isForced, turn)
            : await this.#bringDocument(resource, isForced, turn);
        } catch (error) {
          const isChanged = error instanceof AppError && error.code === 'conflict';
          if (!isChanged || attempt === MAX_ATTEMPTS || this.#isClosed) throw error;
        }
      }
    } catch (error) {
      await this.#noteFailure(resource, error);
      return null;
    }
  }

  /** Its old entries no longer match it. */
  async #noteFailure(resource: PublishedResource, error: unknown): Promise<void> {
    if (this.#isClosed) return;
    const isFileAtFault = error instanceof AppError && error.status < 500;
    if (!isFileAtFault) {
      const fields = { resource: resource.rel, error };
      this.#options.log.warning('a resource is missing from the search index', fields);
    }
    await this.#forget([keyOf(resource)]).catch((failure: unknown) => {
      this.#options.log.warning('the search index is out of reach', { error: failure });
    });
  }

  async #bringDocument(
    resource: PublishedResource,
    isForced: boolean,
    turn: Turn,
  ): Promise<IndexedCount> {
    const { client, contents, published, limits, temporary } = this.#options;
    const key = keyOf(resource);
    const { maxBytes } = limits();
    const stamp = published.stampOf(resource);
    if (stamp === null) throw new AppError('not-found', 'Not Found');
    const { size, mtimeNs, ctimeNs, inode } = stamp;
    const version = [CONTENT_FORMAT, resource.type, maxBytes, size, mtimeNs, ctimeNs, inode].join();
    if (!isForced && this.#live.get(key)?.version === version) return 'skipped';
    const file = resource.kind.sections ? join(temporary, `sections-${shortId()}.json`) : null;
    try {
      if (file !== null) await contents.sections(resource, file, turn);
      const name = resource.rel.slice(resource.rel.lastIndexOf('/') + 1);
      const title = stemOf(name);
      const order = { key, version, file, title, name, maxBytes };
      const { no, documents } = await client('document', order);
      if (published.get(resource.rel, resource.sheet) === null) {
        await client('abandon', { nos: [no] });
        throw new AppError('not-found', 'Not Found');
      }
      this.#live.set(key, { ...emptyRange(no), version, documents });
      return { documents };
    } finally {
      if (file !== null) rmSync(file, { force: true });
    }
  }

  async #bringDataset(
    resource: PublishedResource,
    isForced: boolean,
    turn: Turn,
  ): Promise<IndexedCount> {
    const { contents, limits } = this.#options;
    const key = keyOf(resource);
    const { maxRows } = limits();
    const table = await contents.table(resource, turn);
    const held = this.#live.get(key);
    const copy = basename(table.path);
    const isSame = held?.version === versionOf(table, maxRows) && held.copy === copy;
    const isCurrent = isSame && !held.isBroken;
    if (isCurrent && !isForced) return 'skipped';
    const no = await this.#options.client('begin', { key, copy: table.path });
    const { generation } = table.head;
    const range: Range = { ...emptyRange(no), generation, copy };
    this.#building.set(key, range);
    try {
      await this.#takeRows(resource, table, range, maxRows);
      if (this.#building.get(key) !== range) throw new AppError('not-found', 'Not Found');
      this.#live.set(key, range);
      if (held) this.#release(held);
      return { documents: range.documents };
    } catch (error) {
      await this.#options.client('abandon', { nos: [no] });
      throw error;
    } finally {
      if (this.#building.get(key) === range) this.#building.delete(key);
      this.#release(range);
    }
  }

  /** Concurrent edits find the range in `#building` and change it too, so at the end it matches the current copy. */
  async #takeRows(
    resource: PublishedResource,
    opened: Table,
    range: Range,
    maxRows: number,
  ): Promise<void> {
    const { client, log } = this.#options;
    let table = opened;
    let after = 0;
    let count = 0;
    for (let isDone = false; !isDone && count < maxRows;) {
      const slice = { no: range.no, copy: table.path, after, room: maxRows - count };
      const answer = await client('rows', slice).catch((error: unknown) => {
        throw opened.isClosed ? new AppError('conflict', 'A newer copy took its place') : error;
      });
      if (this.#isClosed) throw new AppError('conflict', 'The copy was closed');
      if (table.isClosed) table = await this.#again(resource, table);
      ({ last: after, isDone } = answer);
      count += answer.count;
    }
    const leftOut = Math.max(0, table.state.rowCount - count);
    const version = versionOf(table, maxRows);
    range.version = version;
    range.leftOut = leftOut;
    range.documents += count + 1;
    const dataset = datasetText(resource, table);
    await client('finish', { no: range.no, version, dataset, leftOut });
    if (range.isBroken) throw new AppError('conflict', 'A change did not reach the index');
    if (leftOut > 0) {
      log.warning('rows past search.max_rows are not searched', {
        resource: keyOf(resource),
        rows: leftOut,
      });
    }
  }

  /** Reopens a copy closed to make room for others; edits meanwhile were applied by themselves. */
  async #again(resource: PublishedResource, closed: Table): Promise<Table> {
    const table = await this.#options.contents.table(resource, Turn.background());
    if (table.path === closed.path) return table;
    throw new AppError('conflict', 'A newer copy took its place');
  }

  #tidyLater(): void {
    if (this.#isClosed) return;
    this.#isUntidy = true;
    if (this.#quiet) clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#quiet = null;
      this.#tidy().catch((error: unknown) => {
        if (this.#isClosed) return;
        this.#options.log.warning('the search index was not tidied up', { error });
      });
    }, QUIET_MS);
    this.#quiet.unref();
  }

  async #tidy(): Promise<void> {
    const { client, snapshot } = this.#options;
    if (this.pending > 0) return;
    while (!this.#isClosed && (await client('clear')));
    if (this.#isClosed || this.pending > 0) return;
    this.#isUntidy = false;
    await client('tidy', { snapshot });
  }
}

function emptyRange(no: number): Range {
  const figures = { version: '', documents: 0, leftOut: 0 };
  return { no, generation: null, copy: null, ...figures, isBroken: false };
}

/** Every change of rows, also by the service itself, makes another version; so does another limit. */
function versionOf(table: Table, maxRows: number): string {
  const { generation } = table.head;
  return `${generation}:${table.state.sequence}:${CONTENT_FORMAT}:${maxRows}`;
}

function generationOf(version: string): string | null {
  const end = version.indexOf(':');
  return end < 0 ? null : version.slice(0, end);
}

const MAX_DESCRIPTION_CHARACTERS = 20_000;

/** A dataset as a document, found by its name, its columns and the descriptions of its companion schema. */
function datasetText(
  { rel, sheet }: Pick<PublishedResource, 'rel' | 'sheet'>,
  { head }: Table,
): DocumentEntry {
  const name = stemOf(rel.slice(rel.lastIndexOf('/') + 1));
  const columns = head.columns.map((column) => column.name).join(', ');
  const texts = [rel, columns, ...descriptions(head.companionSchema)];
  return { title: sheet ?? name, anchor: null, text: texts.join(' · ') };
}

function descriptions(schema: string | null): string[] {
  if (schema === null) return [];
  const found: string[] = [];
  try {
    JSON.parse(schema, (key, value: unknown) => {
      if ((key === 'description' || key === 'title') && typeof value === 'string') {
        found.push(value);
      }
      return value;
    });
  } catch {
    return [];
  }
  return found.map((text) => text.slice(0, MAX_DESCRIPTION_CHARACTERS));
}
