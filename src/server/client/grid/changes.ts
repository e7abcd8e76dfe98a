/**
 * Changes of rows: sent one after another, each with the version it was made on (If-Match), and undone on request.
 */
import { mismatchColumn, mismatchReason } from '../../../dataset/mismatch-text.ts';
import { csrfHeaders } from '../cookies.ts';
import { cellOf, countText, type GridColumn, type GridRow, idOf, parseRows } from './model.ts';
import {
  isSameCell,
  type Misfit,
  nextPart,
  reversed,
  type RowEdit,
  sent,
  type Values,
  type WrittenRow,
} from './row-edits.ts';
import { problemOf, versionOf } from './rows.ts';
import { joined, type Step } from './undo-step.ts';

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

/** Why something was not done, for people. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ChangeRefused))
    return error instanceof Error ? error.message : String(error);
  return error.status === 401 ? SIGNED_OUT : error.reason;
}

/** A change of many cells at once. */
export interface BlockChange {
  /** `the paste of 12 values`: what undo calls it. */
  readonly label: string;
  readonly edits: readonly RowEdit[];
  /** Rows that are added at the end, after the edits. */
  readonly added: readonly Values[];
  /** Of the file when the rows were seen. */
  readonly version: string;
  /**
   * Somebody was faster: what is still to be done of the rest, and the version it is meant for. Rejects when the person gives
   * up.
   */
  settle(rest: readonly RowEdit[]): Promise<{ edits: readonly RowEdit[]; version: string }>;
}

/** What is sent. */
type Body =
  | { readonly action: 'create' | 'delete'; readonly data: readonly object[] }
  | { readonly action: 'update'; readonly data: WrittenRow | readonly WrittenRow[] };

interface ChangesOptions {
  /** `/api/<name>/` and `/ui/<name>/`. */
  readonly api: string;
  readonly page: string;
  readonly columns: readonly GridColumn[];
  /** The version that the page shows. */
  readonly version: () => string;
  /** Told the version after a change of ours, and the cells it has changed. */
  changed(version: string, written: readonly WrittenRow[]): void;
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
/** How often rows of several answers are read again because they are not of one version. */
const MAX_READS = 5;

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
  /** The version that our last change made. */
  #madeVersion = '';

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
    await this.#send('PATCH', update({ _row_id: id, ...values }), version);
    const [name = ''] = Object.keys(values);
    const what = Object.keys(values).length === 1 ? `${name} of row ${id}` : `row ${id}`;
    const put = async (step: Step, expected: GridRow, cells: Values): Promise<void> => {
      const present = this.#presentId(id);
      const tag = step.isDoubtful ? await this.#verify([present], [expected]) : null;
      const body = update({ _row_id: present, ...cells });
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
    const { ids, step } = await this.#add(rows);
    this.#remember(step);
    return ids;
  }

  async #add(rows: readonly Values[]): Promise<{ readonly ids: number[]; readonly step: Step }> {
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
        const again: Body = { action: 'create', data: rows };
        ids = await this.#send('POST', again, this.#options.version, PUT_BACK);
        created.forEach((id, index) => this.#moved.set(id, ids[index]!));
      },
    };
    return { ids: created, step };
  }

  /**
   * Changes cells of many rows and adds some, some hundred rows in one write and all of it in one step of undo. What was
   * done before a refusal or before it was given up stays done and can be undone; the answer are the ids of the added rows.
   */
  replace(change: BlockChange, following: Following): Promise<number[]> {
    return this.#track(this.#replace(change, following));
  }

  async #replace(change: BlockChange, { progress, signal }: Following): Promise<number[]> {
    const done: RowEdit[] = [];
    const parts: Step[] = [];
    let { edits: rest, version } = change;
    let ids: number[] = [];
    try {
      while (rest.length > 0 && !signal.aborted) {
        const part = nextPart(rest);
        try {
          await this.#sendCells(part, () => version);
        } catch (error) {
          if (!(error instanceof ChangeRefused) || error.status !== 412) throw error;
          ({ edits: rest, version } = await change.settle(rest));
          continue;
        }
        version = this.#madeVersion;
        done.push(...part);
        rest = rest.slice(part.length);
        progress(done.length);
      }
      if (change.added.length > 0 && !signal.aborted) {
        const added = await this.#add(change.added);
        parts.push(added.step);
        ids = added.ids;
      }
    } finally {
      if (done.length > 0) parts.unshift(this.#cellsStep(done));
      if (parts.length > 0) this.#remember(joined(change.label, parts));
    }
    return ids;
  }

  /** A change of cells of many rows, which can be given up half-way and gone on with. */
  #cellsStep(edits: readonly RowEdit[]): Step {
    /** The first so many are as they were before. */
    let back = 0;
    const put = async (
      part: readonly RowEdit[],
      targets: readonly RowEdit[],
      gone: (count: number) => void,
    ): Promise<void> => {
      let version: string | null = null;
      if (step.isDoubtful) {
        const ids = part.map(({ row }) => this.#presentId(idOf(row)));
        const expected = part.map(({ row, values }) => ({ ...row, ...values }) as GridRow);
        version = await this.#verify(ids, expected);
      }
      for (let from = 0; from < targets.length;) {
        const sending = nextPart(targets.slice(from));
        const tag = version;
        await this.#sendCells(sending, tag === null ? this.#options.version : () => tag, PUT_BACK);
        if (version !== null) version = this.#madeVersion;
        from += sending.length;
        gone(sending.length);
      }
    };
    const step: Step = {
      label: '',
      isDoubtful: false,
      undo: () => {
        const part = edits.slice(back);
        return put(part, part.map(reversed), (count) => {
          back += count;
        });
      },
      redo: () => {
        const part = edits.slice(0, back).reverse();
        return put(part.map(reversed), part, (count) => {
          back -= count;
        });
      },
    };
    return step;
  }

  async #sendCells(
    edits: readonly RowEdit[],
    version: () => string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const data = edits.map(({ row, values }) => ({
      ...values,
      _row_id: this.#presentId(idOf(row)),
    }));
    // The page takes many rows in one write; the API takes one after the other.
    await this.#send('POST', update(data), version, headers, this.#options.page);
  }

  /** Which of these values do not fit; nothing is changed. Throws ChangeRefused. */
  async misfits(rows: readonly Values[]): Promise<Misfit[]> {
    const response = await fetch(this.#options.page, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...csrfHeaders(),
      },
      body: JSON.stringify({ action: 'check', data: rows }),
    }).catch(() => {
      throw new ChangeRefused(0, UNREACHABLE);
    });
    if (!response.ok) await refuse(response);
    return ((await response.json()) as { misfits: Misfit[] }).misfits;
  }

  /**
   * Deletes rows as they were seen, some hundred in one write. What was deleted before a refusal or before it was given up stays
   * deleted and can be undone; the answer is their number. Refuses all of it when one is another row by now.
   */
  delete(seen: readonly GridRow[], following: Following): Promise<number> {
    return this.#track(this.#delete(seen, following));
  }

  async #delete(seen: readonly GridRow[], following: Following): Promise<number> {
    const before = new Map(seen.map((row) => [idOf(row), row]));
    const rows = await this.read([...before.keys()]);
    // After a program has written the file anew, their numbers may mean other rows.
    const others = rows.filter((row) => !this.#hasSame(row, before.get(idOf(row))!));
    if (others.length > 0) {
      const [is, they] = others.length === 1 ? ['is', 'it was'] : ['are', 'they were'];
      const text = `${countText(others.length)} ${is} not as ${they} seen: someone else has changed the file.`;
      throw new ChangeRefused(412, text);
    }
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

  /**
   * Rows by their ids as they are now, in file order and all of `readVersion`; those that are gone are missing. Throws
   * ChangeRefused.
   */
  async read(ids: readonly number[]): Promise<GridRow[]> {
    for (let attempt = 1; attempt <= MAX_READS; attempt++) {
      const rows: GridRow[] = [];
      const versions = new Set<string>();
      for (let from = 0; from < ids.length; from += IDS_PER_READ) {
        rows.push(...(await this.#readSome(ids.slice(from, from + IDS_PER_READ))));
        versions.add(this.readVersion);
      }
      if (versions.size < 2) return rows;
    }
    throw new ChangeRefused(409, 'The file is being changed all the time.');
  }

  async #readSome(ids: readonly number[]): Promise<GridRow[]> {
    const filter = JSON.stringify({ _row_id: { $in: ids } });
    const response = await fetch(`${this.#options.api}?${new URLSearchParams({ filter })}`, {
      headers: { Accept: 'application/json' },
    }).catch(() => {
      throw new ChangeRefused(0, UNREACHABLE);
    });
    if (!response.ok) await refuse(response);
    this.readVersion = versionOf(response);
    return parseRows(await response.text());
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
    ids.forEach((id, index) => {
      const row = present.get(id);
      if (row === undefined || !this.#hasSame(row, expected[index]!)) {
        throw new ChangeRefused(412, `Row ${id} was changed by someone else meanwhile.`);
      }
    });
    return this.readVersion;
  }

  #hasSame(one: GridRow, other: GridRow): boolean {
    const { columns } = this.#options;
    return columns.every(({ name }) => isSameCell(cellOf(one, name), cellOf(other, name)));
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
        const body: Body = { action: 'create', data };
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
      const body: Body = { action: 'delete', data: part.map((id) => ({ _row_id: id })) };
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
    body: Body,
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
      this.#madeVersion = versionOf(response);
      const written = body.action === 'update' ? [body.data].flat() : [];
      this.#options.changed(this.#madeVersion, written);
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

/** What is sent to change cells. */
function update(data: WrittenRow | readonly WrittenRow[]): Body {
  return { action: 'update', data };
}

async function refuse(response: Response): Promise<never> {
  const { status, message } = await problemOf(response);
  throw new ChangeRefused(status, message);
}

const SIGNED_OUT = 'You are signed out. Sign in again in another tab.';
const UNREACHABLE = 'The server cannot be reached.';
