/**
 * Changes of rows: sent one after another, each with the version it was made on (If-Match), and undone on request.
 */
import { mismatchColumn, mismatchReason } from '../../../dataset/mismatch-text.ts';
import { csrfHeaders } from '../cookies.ts';
import {
  cellOf,
  type CellValue,
  countText,
  type GridColumn,
  type GridRow,
  idOf,
  parseRows,
  plainText,
} from './model.ts';
import { problemOf, versionOf } from './rows.ts';

/** A refused change; `status` 412 means that the file has changed since. */
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

/** Values by column name. */
export type Values = Readonly<Record<string, CellValue>>;

/** Something that was done and can be taken back. */
export interface Step {
  /** `the change of price of row 3`, `the new row`. */
  readonly label: string;
  /** Resolves when it is taken back. */
  undo(): Promise<void>;
  /** Resolves when it is done again. */
  redo(): Promise<void>;
  /** Somebody else has changed the file since: what is there is compared with what was left there. */
  isDoubtful: boolean;
}

interface ChangesOptions {
  /** `/api/<name>/` and `/ui/<name>/`. */
  readonly api: string;
  readonly page: string;
  readonly columns: readonly GridColumn[];
  /** The version that the page shows. */
  readonly version: () => string;
  /** Told the version after a change of ours. */
  changed(version: string): void;
}

/** How a long change is followed and given up. */
export interface Following {
  /** Told the number of rows so far. */
  progress(done: number): void;
  readonly signal: AbortSignal;
}

/** Without the value that is put back, the column may have got a narrower type. */
const PUT_BACK = { Prefer: 'handling=lenient' };
/** Row ids in one filter, and in one deletion. */
const IDS_PER_READ = 500;
const IDS_PER_DELETION = 500;

/** Sends changes and remembers how to undo them. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #undos: Step[] = [];
  readonly #redos: Step[] = [];
  /** Rows that were deleted and added again have other ids since. */
  readonly #moved = new Map<number, number>();
  #last: Promise<unknown> = Promise.resolve();
  #stepping: Promise<unknown> = Promise.resolve();
  /** Changes on their way, until they are remembered. */
  readonly #running = new Set<Promise<unknown>>();
  /** The version that the last `read` saw. */
  readVersion = '';

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** What Ctrl+Z would undo; null when nothing. */
  get nextUndo(): Step | null {
    return this.#undos.at(-1) ?? null;
  }

  /** What Ctrl+Y would do again; null when nothing. */
  get nextRedo(): Step | null {
    return this.#redos.at(-1) ?? null;
  }

  /** Somebody else changed the file: numbers of rows may mean other rows now. */
  doubt(): void {
    for (const step of [...this.#undos, ...this.#redos]) step.isDoubtful = true;
  }

  /** Changes cells of a row as it was at a version, asked for when its turn comes. Throws ChangeRefused. */
  update(row: GridRow, values: Values, version: () => string): Promise<void> {
    return this.#track(this.#update(row, values, version));
  }

  async #update(row: GridRow, values: Values, version: () => string): Promise<void> {
    const id = idOf(row);
    const before = Object.fromEntries(
      Object.keys(values).map((name) => [name, sent(cellOf(row, name))]),
    );
    await this.#send('PATCH', { action: 'update', data: { _row_id: id, ...values } }, version);
    const [name = ''] = Object.keys(values);
    const what = Object.keys(values).length === 1 ? `${name} of row ${id}` : `row ${id}`;
    const put = async (step: Step, expected: GridRow, cells: Values): Promise<void> => {
      const present = this.#presentId(id);
      const tag = step.isDoubtful ? await this.#verify([present], [expected]) : null;
      const data = { _row_id: present, ...cells };
      const body = { action: 'update', data };
      await this.#send('PATCH', body, tag === null ? this.#options.version : () => tag, PUT_BACK);
    };
    const after = { ...row, ...values } as GridRow;
    const step: Step = {
      label: `the change of ${what}`,
      isDoubtful: false,
      undo: () => put(step, after, before),
      redo: () => put(step, row, values),
    };
    this.#remember(step);
  }

  /** Adds rows at the end; their ids. Throws ChangeRefused. */
  create(rows: readonly Values[]): Promise<number[]> {
    return this.#track(this.#create(rows));
  }

  async #create(rows: readonly Values[]): Promise<number[]> {
    let ids = await this.#send('POST', { action: 'create', data: rows }, this.#options.version);
    const created = [...ids];
    const step: Step = {
      label: rows.length === 1 ? 'the new row' : `the ${countText(rows.length, 'new row')}`,
      isDoubtful: false,
      undo: async () => {
        const present = ids.map((id) => this.#presentId(id));
        // Those that an undo that failed half-way has left.
        const left = rows.slice(rows.length - ids.length) as readonly GridRow[];
        if (step.isDoubtful) await this.#verify(present, left);
        await this.#deleteAll(present, (gone) => {
          ids = ids.slice(gone);
        });
      },
      redo: async () => {
        const again = { action: 'create', data: rows };
        ids = await this.#send('POST', again, this.#options.version, PUT_BACK);
        created.forEach((id, index) => this.#moved.set(id, ids[index]!));
      },
    };
    this.#remember(step);
    return created;
  }

  /**
   * Deletes rows, some hundred in one write. What was deleted before a refusal or before it was given up stays deleted and can
   * be undone; the answer is their number.
   */
  delete(ids: readonly number[], following: Following): Promise<number> {
    return this.#track(this.#delete(ids, following));
  }

  async #delete(ids: readonly number[], following: Following): Promise<number> {
    const rows = await this.read(ids);
    let done = 0;
    try {
      await this.#deleteAll(
        rows.map(idOf),
        (gone) => {
          done += gone;
          following.progress(done);
        },
        following.signal,
      );
    } finally {
      if (done > 0) this.#rememberDeleted(rows.slice(0, done));
    }
    return done;
  }

  /** Rows by their ids as they are now, in file order; those that are gone are missing. */
  async read(ids: readonly number[]): Promise<GridRow[]> {
    const rows: GridRow[] = [];
    for (let from = 0; from < ids.length; from += IDS_PER_READ) {
      const filter = JSON.stringify({ _row_id: { $in: ids.slice(from, from + IDS_PER_READ) } });
      const response = await fetch(`${this.#options.api}?${new URLSearchParams({ filter })}`, {
        headers: { Accept: 'application/json' },
      }).catch(() => {
        throw new ChangeRefused(0, UNREACHABLE);
      });
      if (!response.ok) await refuse(response);
      this.readVersion = versionOf(response);
      rows.push(...parseRows(await response.text()));
    }
    return rows;
  }

  /** Undoes the last change; its label, or null when there is none. Throws ChangeRefused, and may be tried again then. */
  undo(): Promise<string | null> {
    return this.#step(this.#undos, this.#redos, (step) => step.undo());
  }

  /** Does again what was undone last; as `undo`. */
  redo(): Promise<string | null> {
    return this.#step(this.#redos, this.#undos, (step) => step.redo());
  }

  /** One after the other, and behind changes that are on their way. */
  #step(from: Step[], to: Step[], run: (step: Step) => Promise<void>): Promise<string | null> {
    const stepping = this.#stepping.then(async () => {
      await Promise.allSettled(this.#running);
      const step = from.at(-1);
      if (step === undefined) return null;
      await run(step);
      step.isDoubtful = false;
      from.splice(from.indexOf(step), 1);
      to.push(step);
      return step.label;
    });
    this.#stepping = stepping.catch(() => {});
    return stepping;
  }

  /** The version in which the rows are as they were left. Throws ChangeRefused when they are not. */
  async #verify(ids: readonly number[], expected: readonly GridRow[]): Promise<string> {
    const present = new Map((await this.read(ids)).map((row) => [idOf(row), row]));
    const { columns } = this.#options;
    ids.forEach((id, index) => {
      const row = present.get(id);
      const isSame =
        row !== undefined &&
        columns.every(({ name }) => isSameCell(cellOf(row, name), cellOf(expected[index]!, name)));
      if (!isSame) {
        throw new ChangeRefused(412, `Row ${id} was changed by someone else meanwhile.`);
      }
    });
    return this.readVersion;
  }

  #rememberDeleted(rows: readonly GridRow[]): void {
    const writable = this.#options.columns.filter(({ isWritable }) => isWritable);
    const step: Step = {
      label:
        rows.length === 1 ? 'the deletion of a row' : `the deletion of ${countText(rows.length)}`,
      isDoubtful: false,
      undo: async () => {
        const data = rows.map((row) =>
          Object.fromEntries(writable.map(({ name }) => [name, sent(cellOf(row, name))])),
        );
        const body = { action: 'create', data };
        const ids = await this.#send('POST', body, this.#options.version, PUT_BACK);
        rows.forEach((row, index) => this.#moved.set(this.#presentId(idOf(row)), ids[index]!));
      },
      redo: async () => {
        const ids = rows.map((row) => this.#presentId(idOf(row)));
        if (step.isDoubtful) await this.#verify(ids, rows);
        await this.#deleteAll(ids, () => {});
      },
    };
    this.#remember(step);
  }

  async #deleteAll(
    ids: readonly number[],
    gone: (count: number) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    for (let from = 0; from < ids.length && signal?.aborted !== true; from += IDS_PER_DELETION) {
      const part = ids.slice(from, from + IDS_PER_DELETION);
      const body = { action: 'delete', data: part.map((id) => ({ _row_id: id })) };
      // The page takes many rows in one write; the API takes one after the other.
      await this.#send('POST', body, this.#options.version, {}, this.#options.page);
      gone(part.length);
    }
  }

  async #track<T>(change: Promise<T>): Promise<T> {
    this.#running.add(change);
    try {
      return await change;
    } finally {
      this.#running.delete(change);
    }
  }

  #remember(step: Step): void {
    this.#undos.push(step);
    this.#redos.length = 0;
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
    address = this.#options.api,
  ): Promise<number[]> {
    const sending = this.#last.then(async () => {
      const tag = version();
      const response = await fetch(address, {
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
      throw new ChangeRefused(0, UNREACHABLE);
    }
  }
}

async function refuse(response: Response): Promise<never> {
  const { status, message } = await problemOf(response);
  throw new ChangeRefused(status, message);
}

const UNREACHABLE = 'The server cannot be reached.';

/** Whether the file can say the same by both: a text as it was typed, and the value read from it. */
export function isSameCell(one: CellValue, other: CellValue): boolean {
  const [a, b] = [plainText(one), plainText(other)];
  if (a === b) return true;
  if (a === '' || b === '') return false;
  const truth = [TRUTH.get(a.trim().toLowerCase()), TRUTH.get(b.trim().toLowerCase())];
  if (typeof one === 'boolean' || typeof other === 'boolean') return truth[0] === truth[1];
  return Number(a) === Number(b);
}

const TRUTH = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

/** A value as it is sent back: digits of long integers, since JSON has no bigint here. */
function sent(value: CellValue): CellValue {
  return typeof value === 'bigint' ? String(value) : value;
}
