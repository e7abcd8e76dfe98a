/**
 * Changes of rows: sent one after another, each with the version it was made on (If-Match), and undone on request.
 */
import { mismatchColumn, mismatchReason } from '../../../dataset/mismatch-text.ts';
import { csrfHeaders } from '../cookies.ts';
import { cellOf, type CellValue, type GridColumn, type GridRow, idOf, parseRows } from './model.ts';
import { problemOf, versionOf } from './rows.ts';

/** A refused change; `status` 412 means that the file has changed since. */
export class ChangeRefused extends Error {
  constructor(
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

/** Values by column name. */
export type Values = Readonly<Record<string, CellValue>>;

/** Something that can be undone; `run` resolves when it is. */
export interface Undo {
  readonly label: string;
  run(): Promise<void>;
}

interface ChangesOptions {
  readonly api: string;
  readonly columns: readonly GridColumn[];
  /** The version that the page shows. */
  readonly version: () => string;
  /** Told the version after a change of ours. */
  changed(version: string): void;
}

/** Without the value that is put back, the column may have got a narrower type. */
const PUT_BACK = { Prefer: 'handling=lenient' };
/** Row ids in one filter. */
const IDS_PER_READ = 500;

/** Sends changes and remembers how to undo them. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #undos: Undo[] = [];
  /** Rows that were deleted and added again have other ids since. */
  readonly #moved = new Map<number, number>();
  #last: Promise<unknown> = Promise.resolve();
  /** The version that the last `read` saw. */
  readVersion = '';

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** What Ctrl+Z would undo; null when nothing. */
  get nextUndo(): Undo | null {
    return this.#undos.at(-1) ?? null;
  }

  /** The numbers of rows mean other rows now. */
  forget(): void {
    this.#undos.length = 0;
    this.#moved.clear();
  }

  /** Changes cells of a row as it was at a version. Throws ChangeRefused. */
  async update(row: GridRow, values: Values, version: string): Promise<void> {
    const id = idOf(row);
    const before = Object.fromEntries(
      Object.keys(values).map((name) => [name, sent(cellOf(row, name))]),
    );
    await this.#send(
      'PATCH',
      { action: 'update', data: { _row_id: id, ...values } },
      () => version,
    );
    const [name = ''] = Object.keys(values);
    const what = Object.keys(values).length === 1 ? `${name} of row ${id}` : `row ${id}`;
    this.#remember({
      label: `the change of ${what}`,
      run: async () => {
        const data = { _row_id: this.#presentId(id), ...before };
        await this.#send('PATCH', { action: 'update', data }, this.#options.version, PUT_BACK);
      },
    });
  }

  /** Adds rows at the end; their ids. Throws ChangeRefused. */
  async create(rows: readonly Values[]): Promise<number[]> {
    const ids = await this.#send('POST', { action: 'create', data: rows }, this.#options.version);
    this.#remember({
      label: rows.length === 1 ? 'the new row' : `the ${rows.length} new rows`,
      run: async () => {
        await this.#deleteAll(ids.map((id) => this.#presentId(id)));
      },
    });
    return ids;
  }

  /**
   * Deletes rows, one after another. What was deleted before a refusal stays deleted and can be undone. `progress` is told
   * the number so far.
   */
  async delete(ids: readonly number[], progress: (done: number) => void): Promise<void> {
    const rows = await this.read(ids);
    const deleted: GridRow[] = [];
    try {
      for (const row of rows) {
        await this.#deleteAll([idOf(row)]);
        deleted.push(row);
        progress(deleted.length);
      }
    } finally {
      if (deleted.length > 0) this.#rememberDeleted(deleted);
    }
  }

  /** Rows by their ids as they are now, in file order; those that are gone are missing. */
  async read(ids: readonly number[]): Promise<GridRow[]> {
    const rows: GridRow[] = [];
    for (let from = 0; from < ids.length; from += IDS_PER_READ) {
      const filter = JSON.stringify({ _row_id: { $in: ids.slice(from, from + IDS_PER_READ) } });
      const response = await fetch(`${this.#options.api}?${new URLSearchParams({ filter })}`, {
        headers: { Accept: 'application/json' },
      });
      if (!response.ok) await refuse(response);
      this.readVersion = versionOf(response);
      rows.push(...parseRows(await response.text()));
    }
    return rows;
  }

  /** Undoes the last change; its label, or null when there is none. Throws ChangeRefused, and may be tried again then. */
  async undo(): Promise<string | null> {
    const last = this.#undos.at(-1);
    if (last === undefined) return null;
    await last.run();
    this.#undos.splice(this.#undos.indexOf(last), 1);
    return last.label;
  }

  #rememberDeleted(rows: readonly GridRow[]): void {
    const writable = this.#options.columns.filter(({ isWritable }) => isWritable);
    this.#remember({
      label: rows.length === 1 ? 'the deletion of a row' : `the deletion of ${rows.length} rows`,
      run: async () => {
        const data = rows.map((row) =>
          Object.fromEntries(writable.map(({ name }) => [name, sent(cellOf(row, name))])),
        );
        const body = { action: 'create', data };
        const ids = await this.#send('POST', body, this.#options.version, PUT_BACK);
        rows.forEach((row, index) => this.#moved.set(idOf(row), ids[index]!));
      },
    });
  }

  async #deleteAll(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const body = { action: 'delete', data: { _row_id: id } };
      await this.#send('DELETE', body, this.#options.version);
    }
  }

  #remember(undo: Undo): void {
    this.#undos.push(undo);
  }

  #presentId(id: number): number {
    let present = id;
    for (let next = this.#moved.get(present); next !== undefined; next = this.#moved.get(present)) {
      present = next;
    }
    return present;
  }

  /** One after another, because each must name the version that the one before has made. */
  async #send(
    method: string,
    body: object,
    version: () => string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number[]> {
    const sending = this.#last.then(async () => {
      const tag = version();
      const response = await fetch(this.#options.api, {
        method,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json',
          'If-Match': `"${tag}"`,
          ...csrfHeaders(),
          ...headers,
        },
        body: JSON.stringify(body),
      });
      if (!response.ok) await refuse(response);
      this.#options.changed(versionOf(response));
      return ((await response.json()) as { row_ids: number[] }).row_ids;
    });
    this.#last = sending.catch(() => {});
    try {
      return await sending;
    } catch (error) {
      if (error instanceof ChangeRefused) throw error;
      throw new ChangeRefused(0, 'The server cannot be reached; nothing was changed.');
    }
  }
}

async function refuse(response: Response): Promise<never> {
  const { status, message } = await problemOf(response);
  throw new ChangeRefused(status, message);
}

/** A value as it is sent back: digits of long integers, since JSON has no bigint here. */
function sent(value: CellValue): CellValue {
  return typeof value === 'bigint' ? String(value) : value;
}
