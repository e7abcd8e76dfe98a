/**
 * Row requests to the server: reads by id, and writes in sequence because each must send the
 * version that the one before made (If-Match). Every failure is a ChangeRefused.
 */
import { mismatchColumn, mismatchReason } from '../../../tables/edit/mismatch-text.ts';
import { csrfHeaders } from '../../shared/cookies.ts';
import { type GridRow, parseRows } from '../../../pages/grid/model.ts';
import type { Misfit, Values, WrittenRow } from './row-edits.ts';
import { problemOf, versionOf } from '../table/rows.ts';

/** Status 412: the file has changed since. */
export class ChangeRefused extends Error {
  constructor(
    /** 0: no response. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  get column(): string | null {
    return mismatchColumn(this.message);
  }

  /** Without the wording all such errors share. */
  get reason(): string {
    return mismatchReason(this.message);
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof ChangeRefused)) return messageOf(error);
  return error.status === 401 ? SIGNED_OUT : error.reason;
}

/** The message as the server sent it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface RowRequestsOptions {
  readonly api: string;
  readonly page: string;
  readonly version: () => string;
  /** Called after our own write with its version and the changed cells. */
  written(version: string, rows: readonly WrittenRow[]): void;
}

interface Write {
  readonly method: 'PATCH' | 'POST';
  readonly address: string;
  readonly body: { readonly action: 'create' | 'update' | 'delete'; readonly data: unknown };
  readonly cells?: readonly WrittenRow[];
  readonly version: () => string;
  readonly isPutBack?: boolean;
}

interface Written {
  readonly ids: number[];
  readonly version: string;
}

const IDS_PER_READ = 500;
const IDS_PER_DELETION = 500;
const MAX_READS = 5;
/** Restoring a value must work even if the column has become a narrower type without it. */
const PUT_BACK = { Prefer: 'handling=lenient' };

export class RowRequests {
  readonly #options: RowRequestsOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RowRequestsOptions) {
    this.#options = options;
  }

  /**
   * Current rows in file order, all of one version; deleted ones are missing. Throws ChangeRefused.
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

  /** Values that do not fit; changes nothing. Throws ChangeRefused. */
  async misfits(rows: readonly Values[]): Promise<readonly Misfit[]> {
    const response = await fetch(this.#options.page, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ action: 'check', data: rows }),
    }).catch(noAnswer);
    if (!response.ok) await refuse(response);
    return ((await response.json()) as { misfits: Misfit[] }).misfits;
  }

  /** `isPutBack`: the cells held these values before. Throws ChangeRefused. */
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

  /** At most as many rows as fit one write; returns the new version. Throws ChangeRefused. */
  async changeMany(
    rows: readonly WrittenRow[],
    version: string | null,
    { isPutBack = false } = {},
  ): Promise<string> {
    const written = await this.#send({
      method: 'POST',
      // The page's address takes many rows in one write; the API takes one at a time.
      address: this.#options.page,
      body: { action: 'update', data: rows },
      cells: rows,
      version: version === null ? this.#options.version : () => version,
      isPutBack,
    });
    return written.version;
  }

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

  /**
   * Some hundred rows per write; `gone` is called after each with their number. Throws
   * ChangeRefused.
   */
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
