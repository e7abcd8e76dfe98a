/**
 * Row requests to the server: reads by id, and writes in sequence because each must send the
 * version that the one before made (If-Match). Every failure is a Refused; status 412: the file has
 * changed since.
 */
import { mismatchReason } from '../../../tables/edit/mismatch-text.ts';
import { type GridRow, parseRows } from '../../../pages/grid/model.ts';
import { ask, askJson, messageOf, posting, Refused, UNREACHABLE } from '../../shared/ask.ts';
import { versionOf } from '../table/rows.ts';
import type { Misfit, Values, WrittenRow } from './row-edits.ts';

/** Without the wording all refusals share. */
export function reasonOf(error: unknown): string {
  const isSignedOut = error instanceof Refused && error.status === 401;
  if (isSignedOut) return 'You are signed out. Sign in again in another tab.';
  return mismatchReason(messageOf(error));
}

interface RowRequestsOptions {
  readonly api: string;
  readonly page: string;
  version(): string;
  /** Called after our own write with its version and the changed cells. */
  written(version: string, rows: readonly WrittenRow[]): void;
}

interface Write {
  readonly action: 'create' | 'update' | 'delete';
  readonly data: unknown;
  /** Read when the write's turn comes. */
  readonly version?: (() => string) | null;
  /** The cells held these values before. */
  readonly isPutBack?: boolean;
  readonly cells?: readonly WrittenRow[];
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

  /** Current rows in file order, all of one version; deleted ones are missing. */
  async read(
    ids: readonly number[],
  ): Promise<{ readonly rows: GridRow[]; readonly version: string }> {
    for (let attempt = 1; attempt <= MAX_READS; attempt++) {
      const rows: GridRow[] = [];
      const versions = new Set<string>();
      for (let from = 0; from < ids.length; from += IDS_PER_READ) {
        const part = { _row_id: { $in: ids.slice(from, from + IDS_PER_READ) } };
        const query = new URLSearchParams({ filter: JSON.stringify(part) });
        const response = await ask(`${this.#options.api}?${query}`);
        versions.add(versionOf(response.headers));
        rows.push(...parseRows(await response.text()));
      }
      const [version = ''] = versions;
      if (versions.size < 2) return { rows, version };
    }
    throw new Refused(409, 'The file is being changed all the time.');
  }

  /** Values that do not fit; changes nothing. */
  async misfits(rows: readonly Values[]): Promise<readonly Misfit[]> {
    const checked = askJson<{ misfits: Misfit[] }>(
      this.#options.page,
      posting({ action: 'check', data: rows }),
    );
    return (await checked).misfits;
  }

  /** At most as many rows as fit one write; returns the new version. */
  async change(
    cells: readonly WrittenRow[],
    { version, isPutBack }: Pick<Write, 'version' | 'isPutBack'>,
  ): Promise<string> {
    const data = cells.length === 1 ? cells[0] : cells;
    return (await this.#send({ action: 'update', data, cells, version, isPutBack })).version;
  }

  async add(data: readonly Values[], { isPutBack = false } = {}): Promise<number[]> {
    return (await this.#send({ action: 'create', data, isPutBack })).ids;
  }

  /** Some hundred rows per write; `gone` is called after each with their number. */
  async delete(
    ids: readonly number[],
    gone: (count: number) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    for (let from = 0; from < ids.length && signal?.aborted !== true; from += IDS_PER_DELETION) {
      const data = ids.slice(from, from + IDS_PER_DELETION).map((id) => ({ _row_id: id }));
      await this.#send({ action: 'delete', data });
      gone(data.length);
    }
  }

  async #send(write: Write): Promise<{ readonly ids: number[]; readonly version: string }> {
    const sending = this.#last.then(async () => {
      const { action, data, isPutBack, cells = [] } = write;
      const { api, page, written } = this.#options;
      const basis = (write.version ?? this.#options.version)();
      // The page's address takes many rows in one write; the API changes one at a time.
      const address = action === 'create' || cells.length === 1 ? api : page;
      const init = posting({ action, data }, cells.length === 1 ? 'PATCH' : 'POST');
      Object.assign(init.headers, { 'If-Match': `"${basis}"` }, isPutBack && PUT_BACK);
      const response = await ask(address, init);
      const version = versionOf(response.headers);
      written(version, cells);
      return { ids: ((await response.json()) as { row_ids: number[] }).row_ids, version };
    });
    this.#last = sending.catch(() => {});
    return sending.catch((error: unknown) => {
      throw error instanceof Refused ? error : new Refused(0, UNREACHABLE);
    });
  }
}
