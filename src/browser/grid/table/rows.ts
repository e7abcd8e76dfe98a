/**
 * The rows of the view, fetched in blocks as they become visible.
 *
 * Loaded rows stay until newer ones arrive, so nothing flickers when the file changes. Requests for
 * blocks no longer visible are aborted; when there are many blocks, old ones are dropped.
 */
import { cellOf, type GridRow, idOf, parseRows } from '../../../pages/grid/model.ts';
import { ask, Refused, UNREACHABLE } from '../../shared/ask.ts';
import type { WrittenRow } from '../writing/row-edits.ts';

const BLOCK_ROWS = 200;
const MAX_BLOCKS = 60;
const MAX_REQUESTS = 3;
/** How long the style sheet fades the mark of a changed cell. */
const CHANGED_MS = 4_000;

interface Block {
  rows: readonly GridRow[];
  generation: number;
}

export class RowStore {
  total: number | null = null;
  /** Version from the newest ETag; `''` before the first. */
  version = '';
  problem: Refused | null = null;
  readonly #api: string;
  readonly #onChange: () => void;
  readonly #onNewVersion: () => void;
  #query = new URLSearchParams();
  #blocks = new Map<number, Block>();
  #pending = new Map<number, AbortController>();
  #wanted: number[] = [];
  #generation = 0;
  /** After a requested reload a new version is no news. */
  #isExpected = false;
  /** Number of versions made by our own writes. */
  #made = 0;
  /** Names of columns by row id, of cells that others changed a moment ago. */
  readonly #changed = new Map<number, ReadonlySet<string>>();

  /** `onNewVersion` is called when rows arrive of a version that this page has not made. */
  constructor(api: string, onChange: () => void, onNewVersion: () => void) {
    this.#api = api;
    this.#onChange = onChange;
    this.#onNewVersion = onNewVersion;
  }

  show(query: URLSearchParams): void {
    this.#query = query;
    this.#blocks.clear();
    this.total = null;
    this.reload();
  }

  reload(): void {
    this.#generation++;
    for (const request of this.#pending.values()) request.abort();
    this.#pending.clear();
    this.problem = null;
    this.#isExpected = true;
    this.#fetch();
  }

  at(index: number): GridRow | undefined {
    return this.#blocks.get(Math.floor(index / BLOCK_ROWS))?.rows[index % BLOCK_ROWS];
  }

  *loaded(): Generator<readonly [index: number, row: GridRow]> {
    for (const number of [...this.#blocks.keys()].sort((a, b) => a - b)) {
      const { rows } = this.#blocks.get(number)!;
      for (const [at, row] of rows.entries()) yield [number * BLOCK_ROWS + at, row];
    }
  }

  /** From the first on, up to the first that is not loaded. */
  loadedBetween(first: number, last: number): GridRow[] {
    const rows: GridRow[] = [];
    for (let index = first; index <= last; index++) {
      const row = this.at(index);
      if (row === undefined) break;
      rows.push(row);
    }
    return rows;
  }

  /**
   * Both ends included, in one request unless all are loaded. Fewer when the file has become
   * shorter, none when the request fails.
   */
  async between(first: number, last: number): Promise<readonly GridRow[]> {
    const rows = this.loadedBetween(first, last);
    if (rows.length > last - first || last < first) return rows;
    try {
      return parseRows(await (await this.#ask(first, last - first + 1)).text());
    } catch {
      // The same failure hits the visible rows, where it is reported.
      return rows;
    }
  }

  #ask(offset: number, limit: number, signal: AbortSignal | null = null): Promise<Response> {
    const query = new URLSearchParams(this.#query);
    query.set('limit', String(limit));
    if (offset > 0) query.set('offset', String(offset));
    return ask(`${this.#api}?${query}`, { signal });
  }

  /** −1 when not loaded. */
  placeOf(id: number): number {
    for (const [place, row] of this.loaded()) if (idOf(row) === id) return place;
    return -1;
  }

  /**
   * Our own write made this version: pending responses are outdated, and until newer ones arrive
   * nothing may build on the old values.
   */
  versionMade(version: string, written: readonly WrittenRow[]): void {
    this.version = version;
    this.#made++;
    if (written.length > 0) this.put(written);
  }

  /** New cells of rows that are loaded. */
  put(written: readonly WrittenRow[]): void {
    const cells = new Map(written.map((row) => [row._row_id, row]));
    for (const block of this.#blocks.values()) {
      block.rows = block.rows.map((row) => {
        const changed = cells.get(idOf(row));
        return changed === undefined ? row : { ...row, ...changed };
      });
    }
    this.#onChange();
  }

  get hasRows(): boolean {
    return this.#blocks.size > 0;
  }

  want(from: number, to: number): void {
    const first = Math.max(0, Math.floor(from / BLOCK_ROWS));
    const last = Math.max(first, Math.floor((to - 1) / BLOCK_ROWS));
    const seen: number[] = [];
    for (let block = first; block <= last; block++) seen.push(block);
    // Neighbours too, so that scrolling meets loaded rows.
    this.#wanted = [...seen, last + 1, first - 1].filter(
      (block) =>
        block >= 0 && (this.total === null || block * BLOCK_ROWS < this.total || block === 0),
    );
    for (const [block, request] of this.#pending) {
      if (this.#wanted.includes(block)) continue;
      request.abort();
      this.#pending.delete(block);
    }
    this.#fetch();
  }

  #fetch(): void {
    if (this.problem !== null) return;
    for (const number of this.#wanted) {
      if (this.#pending.size >= MAX_REQUESTS) return;
      const isThere = this.#blocks.get(number)?.generation === this.#generation;
      if (!isThere && !this.#pending.has(number)) void this.#fetchBlock(number);
    }
  }

  async #fetchBlock(number: number): Promise<void> {
    const request = new AbortController();
    const [generation, made] = [this.#generation, this.#made];
    const isLate = (): boolean => generation !== this.#generation || made !== this.#made;
    this.#pending.set(number, request);
    let isOvertaken = false;
    try {
      const response = await this.#ask(number * BLOCK_ROWS, BLOCK_ROWS, request.signal);
      const rows = parseRows(await response.text());
      isOvertaken = isLate();
      if (!isOvertaken) {
        this.#markChanged(rows);
        this.#blocks.set(number, { rows, generation });
        this.#take(response, rows.length, number);
      }
    } catch (error) {
      if (request.signal.aborted) return;
      isOvertaken = isLate();
      if (!isOvertaken) {
        this.problem = error instanceof Refused ? error : new Refused(0, UNREACHABLE);
      }
    } finally {
      if (this.#pending.get(number) === request) this.#pending.delete(number);
    }
    if (!isOvertaken) this.#onChange();
    // Even after a useless response: its rows may still be visible.
    this.#fetch();
  }

  /** True for a while after a newer version of the row had another value. */
  isChanged(row: GridRow, column: string): boolean {
    return this.#changed.get(idOf(row))?.has(column) === true;
  }

  /** Compares with what is shown, wherever the rows stand now. */
  #markChanged(rows: readonly GridRow[]): void {
    if (this.#blocks.size === 0) return;
    const before = new Map([...this.loaded()].map(([, row]) => [idOf(row), row]));
    const marked = rows.flatMap((row): number[] => {
      const old = before.get(idOf(row));
      if (old === undefined) return [];
      const names = Object.keys(row).filter(
        (name) => name !== '_row_id' && cellOf(row, name) !== cellOf(old, name),
      );
      if (names.length === 0) return [];
      this.#changed.set(idOf(row), new Set(names));
      return [idOf(row)];
    });
    if (marked.length === 0) return;
    setTimeout(() => marked.forEach((id) => this.#changed.delete(id)), CHANGED_MS);
  }

  #take(response: Response, count: number, number: number): void {
    const version = versionOf(response.headers);
    const total = Number(response.headers.get('X-Total-Count') ?? number * BLOCK_ROWS + count);
    // Other blocks may be of another version: refetch them.
    const isNewer = this.version !== '' && version !== this.version;
    if (isNewer) {
      this.#generation++;
      this.#blocks.get(number)!.generation = this.#generation;
    }
    this.version = version;
    this.total = total;
    for (const block of this.#blocks.keys()) {
      if (block * BLOCK_ROWS >= total && block > 0) this.#blocks.delete(block);
      else if (this.#blocks.size > MAX_BLOCKS && !this.#wanted.includes(block)) {
        this.#blocks.delete(block);
      }
    }
    const isNews = isNewer && !this.#isExpected;
    this.#isExpected = false;
    if (isNews) this.#onNewVersion();
  }
}

/** Whether a retry, or signing in again, may succeed; status 0: no response. */
export function mayPass(status: number): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500;
}

/** The version part of an ETag identifies the file's version, whatever was requested. */
export function versionOf(headers: Headers): string {
  const tag = headers.get('ETag') ?? '';
  return tag.replace(/^W\//, '').replaceAll('"', '').split('.')[0]!;
}
