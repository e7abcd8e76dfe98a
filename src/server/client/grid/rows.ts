/**
 * The rows of the view, fetched in blocks as they come into sight.
 *
 * Rows already shown stay until newer ones are there, so nothing flickers when the file changes. Blocks out of sight are
 * given up when newer ones are wanted, and forgotten when there are many.
 */
import { type GridRow, idOf, parseRows } from './model.ts';
import type { WrittenRow } from './row-edits.ts';

/** Rows of one request: about four screens, a few ms of the server's work. */
const BLOCK_ROWS = 200;
const MAX_BLOCKS = 60;
const MAX_REQUESTS = 3;

interface Block {
  rows: readonly GridRow[];
  generation: number;
}

/** What went wrong when rows were asked for. */
export interface RowsProblem {
  readonly status: number;
  readonly message: string;
}

/** The rows of one view after another. */
export class RowStore {
  /** Matching rows; null until the first answer. */
  total: number | null = null;
  /** The `<v>` of the newest answer (DS-46); `''` before the first. */
  version = '';
  problem: RowsProblem | null = null;
  readonly #api: string;
  readonly #onChange: () => void;
  readonly #onNewVersion: () => void;
  #query = new URLSearchParams();
  #blocks = new Map<number, Block>();
  #pending = new Map<number, AbortController>();
  #wanted: number[] = [];
  /** Blocks of an older one are out of date. */
  #generation = 0;
  /** Whoever asked for rows anew knows that there may be a newer version. */
  #isExpected = false;
  /** How many versions were made here. */
  #made = 0;

  /** `onNewVersion` is told when rows came of a version that nobody here has made. */
  constructor(api: string, onChange: () => void, onNewVersion: () => void) {
    this.#api = api;
    this.#onChange = onChange;
    this.#onNewVersion = onNewVersion;
  }

  /** Shows other rows from now on. */
  show(query: URLSearchParams): void {
    this.#query = query;
    this.#blocks.clear();
    this.total = null;
    this.reload();
  }

  /** Fetches again what is in sight; what is there stays until then. */
  reload(): void {
    this.#generation++;
    for (const request of this.#pending.values()) request.abort();
    this.#pending.clear();
    this.problem = null;
    this.#isExpected = true;
    this.#fetch();
  }

  /** The row at a place of the view; undefined while it is not there yet. */
  at(index: number): GridRow | undefined {
    return this.#blocks.get(Math.floor(index / BLOCK_ROWS))?.rows[index % BLOCK_ROWS];
  }

  /** Rows that are there, with their places, in order. */
  *loaded(): Generator<readonly [index: number, row: GridRow]> {
    for (const number of [...this.#blocks.keys()].sort((a, b) => a - b)) {
      const { rows } = this.#blocks.get(number)!;
      for (const [at, row] of rows.entries()) yield [number * BLOCK_ROWS + at, row];
    }
  }

  /**
   * The rows from one place to another, both included; fetched in one go unless all of them are there. Fewer when the file has
   * become shorter, none when they cannot be had.
   */
  async between(first: number, last: number): Promise<readonly GridRow[]> {
    const rows: GridRow[] = [];
    for (let index = first; index <= last; index++) {
      const row = this.at(index);
      if (row === undefined) break;
      rows.push(row);
    }
    if (rows.length > last - first || last < first) return rows;
    const query = new URLSearchParams(this.#query);
    query.set('limit', String(last - first + 1));
    query.set('offset', String(first));
    try {
      const response = await fetch(`${this.#api}?${query}`, {
        headers: { Accept: 'application/json' },
      });
      if (!response.ok) throw await problemOf(response);
      return parseRows(await response.text());
    } catch {
      // What stops these stops the rows in sight too, and is told there.
      return rows;
    }
  }

  /** Where a row is in the view; −1 when it is not there. */
  placeOf(id: number): number {
    for (const [place, row] of this.loaded()) if (idOf(row) === id) return place;
    return -1;
  }

  /**
   * Our own change made this version, with these cells: answers to what was asked before are of an older one, and until
   * newer ones come nobody goes on from the old values.
   */
  versionMade(version: string, written: readonly WrittenRow[]): void {
    this.version = version;
    this.#made++;
    const cells = new Map(written.map((row) => [row._row_id, row]));
    if (cells.size === 0) return;
    for (const block of this.#blocks.values()) {
      block.rows = block.rows.map((row) => {
        const changed = cells.get(idOf(row));
        return changed === undefined ? row : { ...row, ...changed };
      });
    }
    this.#onChange();
  }

  /** Whether there is anything to show. */
  get hasRows(): boolean {
    return this.#blocks.size > 0;
  }

  /** Puts a newer version of a row in its place. */
  replace(row: GridRow): void {
    const id = idOf(row);
    for (const block of this.#blocks.values()) {
      const at = block.rows.findIndex((one) => idOf(one) === id);
      if (at >= 0) block.rows = block.rows.with(at, row);
    }
    this.#onChange();
  }

  /** Says which rows are in sight (`to` exclusive). */
  want(from: number, to: number): void {
    const first = Math.max(0, Math.floor(from / BLOCK_ROWS));
    const last = Math.max(first, Math.floor((to - 1) / BLOCK_ROWS));
    const seen: number[] = [];
    for (let block = first; block <= last; block++) seen.push(block);
    // The neighbours, so that scrolling on meets rows that are there already.
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
    const query = new URLSearchParams(this.#query);
    query.set('limit', String(BLOCK_ROWS));
    if (number > 0) query.set('offset', String(number * BLOCK_ROWS));
    let isOvertaken = false;
    try {
      const response = await fetch(`${this.#api}?${query}`, {
        signal: request.signal,
        headers: { Accept: 'application/json' },
      });
      if (!response.ok) throw await problemOf(response);
      const rows = parseRows(await response.text());
      isOvertaken = isLate();
      if (!isOvertaken) {
        this.#blocks.set(number, { rows, generation });
        this.#take(response, rows.length, number);
      }
    } catch (error) {
      if (request.signal.aborted) return;
      isOvertaken = isLate();
      if (!isOvertaken) {
        this.problem = isProblem(error)
          ? error
          : { status: 0, message: 'The server cannot be reached.' };
      }
    } finally {
      if (this.#pending.get(number) === request) this.#pending.delete(number);
    }
    if (!isOvertaken) this.#onChange();
    // Also behind an answer of no use: its rows may still be in sight.
    this.#fetch();
  }

  #take(response: Response, count: number, number: number): void {
    const version = versionOf(response);
    const total = Number(response.headers.get('X-Total-Count') ?? number * BLOCK_ROWS + count);
    // Another block of another version may stand beside this one: those are fetched again.
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

/** Whether the same may work a little later, or after another sign-in; 0: there was no answer. */
export function mayPass(status: number): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500;
}

/** The `<v>` of an answer's entity tag: names the version of the file, whatever was asked. */
export function versionOf(response: Response): string {
  const tag = response.headers.get('ETag') ?? '';
  return tag.replace(/^W\//, '').replaceAll('"', '').split('.')[0]!;
}

/** What an answer says went wrong, for people. */
export async function problemOf(response: Response): Promise<RowsProblem> {
  const { status } = response;
  try {
    const { detail } = JSON.parse(await response.text()) as { detail?: unknown };
    if (typeof detail === 'string') return { status, message: detail };
    if (Array.isArray(detail)) {
      const messages = detail.map((issue: { msg?: string }) => issue.msg ?? '');
      return { status, message: messages.join('; ') };
    }
  } catch {
    // A page of something in between; its status is told instead.
  }
  return { status, message: `The server answered ${status}.` };
}

function isProblem(error: unknown): error is RowsProblem {
  return typeof error === 'object' && error !== null && 'status' in error;
}
