/**
 * What the grid asks the server about rows: reads by their numbers, and writes, sent one after another because each must name the
 * version (If-Match) that the one before has made. Whatever goes wrong is a ChangeRefused.
 */
import { mismatchColumn, mismatchReason } from '../../../dataset/mismatch-text.ts';
import { csrfHeaders } from '../cookies.ts';
import { type GridRow, parseRows } from './model.ts';
import type { Misfit, Values, WrittenRow } from './row-edits.ts';
import { problemOf, versionOf } from './rows.ts';

/** A refused request; `status` 412 means that the file has changed since. */
export class ChangeRefused extends Error {
  constructor(
    /** 0: no answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** The column an answer is about; null when it names none. */
  get column(): string | null {
    return mismatchColumn(this.message);
  }

  /** Without the words that are the same in all. */
  get reason(): string {
    return mismatchReason(this.message);
  }
}

/** Why something was not done, for people. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ChangeRefused)) return messageOf(error);
  return error.status === 401 ? SIGNED_OUT : error.reason;
}

/** The words of an error, as they were sent. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface RowRequestsOptions {
  /** `/api/<name>/` and `/ui/<name>/`. */
  readonly api: string;
  readonly page: string;
  /** The version that the page shows. */
  readonly version: () => string;
  /** Told the version after a write of ours, and the cells it has changed. */
  written(version: string, rows: readonly WrittenRow[]): void;
}

/** How a write is sent. */
interface Write {
  readonly method: 'PATCH' | 'POST';
  readonly address: string;
  readonly body: { readonly action: 'create' | 'update' | 'delete'; readonly data: unknown };
  /** The cells it changes. */
  readonly cells?: readonly WrittenRow[];
  /** Asked when its turn comes. */
  readonly version: () => string;
  readonly isPutBack?: boolean;
}

/** What became of a write. */
interface Written {
  readonly ids: number[];
  /** The version it has made. */
  readonly version: string;
}

/** Row ids in one filter, and in one deletion. */
const IDS_PER_READ = 500;
const IDS_PER_DELETION = 500;
/** How often rows of several answers are read again because they are not of one version. */
const MAX_READS = 5;
/** Without the value that is put back, the column may have got a narrower type. */
const PUT_BACK = { Prefer: 'handling=lenient' };

/** Asks about the rows of one dataset. */
export class RowRequests {
  readonly #options: RowRequestsOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RowRequestsOptions) {
    this.#options = options;
  }

  /**
   * Rows by their ids as they are now, in file order and all of one version; those that are gone are missing. Throws
   * ChangeRefused.
   */
  async read(
    ids: readonly number[],
  ): Promise<{ readonly rows: GridRow[]; readonly version: string }> {
    for (let attempt = 1; attempt <= MAX_READS; attempt++) {
      const rows: GridRow[] = [];
      const versions = new Set<string>();
      for (let from = 0; from < ids.length; from += IDS_PER_READ) {
        const response = await this.#get(ids.slice(from, from + IDS_PER_READ));
        versions.add(versionOf(response));
        rows.push(...parseRows(await response.text()));
      }
      const [version = ''] = versions;
      if (versions.size < 2) return { rows, version };
    }
    throw new ChangeRefused(409, 'The file is being changed all the time.');
  }

  async #get(ids: readonly number[]): Promise<Response> {
    const filter = JSON.stringify({ _row_id: { $in: ids } });
    const response = await fetch(`${this.#options.api}?${new URLSearchParams({ filter })}`, {
      headers: { Accept: 'application/json' },
    }).catch(noAnswer);
    return response.ok ? response : refuse(response);
  }

  /** Which of these values do not fit; nothing is changed. Throws ChangeRefused. */
  async misfits(rows: readonly Values[]): Promise<readonly Misfit[]> {
    const response = await fetch(this.#options.page, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ action: 'check', data: rows }),
    }).catch(noAnswer);
    if (!response.ok) await refuse(response);
    return ((await response.json()) as { misfits: Misfit[] }).misfits;
  }

  /** Changes cells of a row as it was at a version; `isPutBack` when they have held these values before. Throws ChangeRefused. */
  async change(
    row: WrittenRow,
    version: (() => string) | null,
    { isPutBack = false } = {},
  ): Promise<void> {
    await this.#send({
      method: 'PATCH',
      address: this.#options.api,
      body: { action: 'update', data: row },
      cells: [row],
      version: version ?? this.#options.version,
      isPutBack,
    });
  }

  /** Changes cells of as many rows as go into one write; the version it has made. Throws ChangeRefused. */
  async changeMany(
    rows: readonly WrittenRow[],
    version: string | null,
    { isPutBack = false } = {},
  ): Promise<string> {
    const written = await this.#send({
      method: 'POST',
      // The page takes many rows in one write; the API takes one after the other.
      address: this.#options.page,
      body: { action: 'update', data: rows },
      cells: rows,
      version: version === null ? this.#options.version : () => version,
      isPutBack,
    });
    return written.version;
  }

  /** Adds rows at the end; their ids. Throws ChangeRefused. */
  async add(rows: readonly Values[], { isPutBack = false } = {}): Promise<number[]> {
    const { ids } = await this.#send({
      method: 'POST',
      address: this.#options.api,
      body: { action: 'create', data: rows },
      version: this.#options.version,
      isPutBack,
    });
    return ids;
  }

  /** Deletes rows, some hundred in one write; `gone` is told after each how many. Throws ChangeRefused. */
  async delete(
    ids: readonly number[],
    gone: (count: number) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    for (let from = 0; from < ids.length && signal?.aborted !== true; from += IDS_PER_DELETION) {
      const part = ids.slice(from, from + IDS_PER_DELETION);
      await this.#send({
        method: 'POST',
        // As in `changeMany`.
        address: this.#options.page,
        body: { action: 'delete', data: part.map((id) => ({ _row_id: id })) },
        version: this.#options.version,
      });
      gone(part.length);
    }
  }

  async #send(write: Write): Promise<Written> {
    const sending = this.#last.then(() => this.#sendNow(write));
    this.#last = sending.catch(() => {});
    try {
      return await sending;
    } catch (error) {
      if (error instanceof ChangeRefused) throw error;
      return noAnswer();
    }
  }

  async #sendNow(write: Write): Promise<Written> {
    const { method, address, body, cells = [], version: basis, isPutBack = false } = write;
    const response = await fetch(address, {
      method,
      headers: { ...jsonHeaders(), 'If-Match': `"${basis()}"`, ...(isPutBack && PUT_BACK) },
      body: JSON.stringify(body),
    });
    if (!response.ok) await refuse(response);
    const version = versionOf(response);
    this.#options.written(version, cells);
    return { ids: ((await response.json()) as { row_ids: number[] }).row_ids, version };
  }
}

function jsonHeaders(): Readonly<Record<string, string>> {
  return { 'Content-Type': 'application/json', Accept: 'application/json', ...csrfHeaders() };
}

async function refuse(response: Response): Promise<never> {
  const { status, message } = await problemOf(response);
  throw new ChangeRefused(status, message);
}

function noAnswer(): never {
  throw new ChangeRefused(0, 'The server cannot be reached.');
}

const SIGNED_OUT = 'You are signed out. Sign in again in another tab.';
