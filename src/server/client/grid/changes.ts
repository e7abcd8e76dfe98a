/**
 * Changes of rows, each remembered as a step that can be undone: cells of a row, cells of many, new rows, deletions.
 */
import { cellOf, countText, type GridColumn, type GridRow, idOf } from './model.ts';
import {
  isSameCell,
  nextPart,
  reversed,
  type RowEdit,
  sent,
  type Values,
  type WrittenRow,
} from './row-edits.ts';
import { ChangeRefused, type RowRequests } from './row-requests.ts';
import { joined, type Step, type UndoHistory } from './undo-history.ts';

/** A change of many cells at once. */
interface BlockChange {
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

/** How a long change is followed and given up. */
interface Following {
  /** Told the number of rows so far. */
  progress(done: number): void;
  readonly signal: AbortSignal;
}

const PUT_BACK = { isPutBack: true };

/** Makes changes of the rows of one dataset. */
export class Changes {
  readonly #requests: RowRequests;
  readonly #history: UndoHistory;
  readonly #columns: readonly GridColumn[];
  /** Rows that were deleted and added again have other ids since. */
  readonly #moved = new Map<number, number>();

  constructor(requests: RowRequests, history: UndoHistory, columns: readonly GridColumn[]) {
    this.#requests = requests;
    this.#history = history;
    this.#columns = columns;
  }

  /** Changes cells of a row as it was at a version, asked for when its turn comes. Throws ChangeRefused. */
  update(row: GridRow, values: Values, version: () => string): Promise<void> {
    return this.#history.track(this.#update(row, values, version));
  }

  async #update(row: GridRow, values: Values, version: () => string): Promise<void> {
    const id = idOf(row);
    const before = Object.fromEntries(
      Object.keys(values).map((name) => [name, sent(cellOf(row, name))]),
    );
    await this.#requests.change({ _row_id: id, ...values }, version);
    const [name = ''] = Object.keys(values);
    const what = Object.keys(values).length === 1 ? `${name} of row ${id}` : `row ${id}`;
    const put = async (step: Step, expected: GridRow, cells: Values): Promise<void> => {
      const present = this.#presentId(id);
      const tag = step.isDoubtful ? await this.#verify([present], [expected]) : null;
      const written = { _row_id: present, ...cells };
      await this.#requests.change(written, tag === null ? null : () => tag, PUT_BACK);
    };
    const after = { ...row, ...values } as GridRow;
    const step: Step = {
      label: `the change of ${what}`,
      isDoubtful: false,
      undo: () => put(step, after, before),
      redo: () => put(step, row, values),
    };
    this.#history.remember(step);
  }

  /** Adds rows at the end; their ids. Throws ChangeRefused. */
  create(rows: readonly Values[]): Promise<number[]> {
    return this.#history.track(this.#create(rows));
  }

  async #create(rows: readonly Values[]): Promise<number[]> {
    const { ids, step } = await this.#add(rows);
    this.#history.remember(step);
    return ids;
  }

  async #add(rows: readonly Values[]): Promise<{ readonly ids: number[]; readonly step: Step }> {
    let ids = await this.#requests.add(rows);
    const created = [...ids];
    const step: Step = {
      label: rows.length === 1 ? 'the new row' : `the ${countText(rows.length, 'new row')}`,
      isDoubtful: false,
      undo: async () => {
        const present = ids.map((id) => this.#presentId(id));
        // Those that an undo that failed half-way has left.
        const left = rows.slice(rows.length - ids.length) as readonly GridRow[];
        if (step.isDoubtful) await this.#verify(present, left);
        await this.#requests.delete(present, (gone) => {
          ids = ids.slice(gone);
        });
      },
      redo: async () => {
        ids = await this.#requests.add(rows, PUT_BACK);
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
    return this.#history.track(this.#replace(change, following));
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
          version = await this.#requests.changeMany(this.#written(part), version);
        } catch (error) {
          if (!(error instanceof ChangeRefused) || error.status !== 412) throw error;
          ({ edits: rest, version } = await change.settle(rest));
          continue;
        }
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
      if (parts.length > 0) this.#history.remember(joined(change.label, parts));
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
        const made = await this.#requests.changeMany(this.#written(sending), version, PUT_BACK);
        if (version !== null) version = made;
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

  #written(edits: readonly RowEdit[]): readonly WrittenRow[] {
    return edits.map(({ row, values }) => ({ ...values, _row_id: this.#presentId(idOf(row)) }));
  }

  /**
   * Deletes rows as they were seen, some hundred in one write. What was deleted before a refusal or before it was given up stays
   * deleted and can be undone; the answer is their number. Refuses all of it when one is another row by now.
   */
  delete(seen: readonly GridRow[], following: Following): Promise<number> {
    return this.#history.track(this.#delete(seen, following));
  }

  async #delete(seen: readonly GridRow[], following: Following): Promise<number> {
    const before = new Map(seen.map((row) => [idOf(row), row]));
    const { rows } = await this.#requests.read([...before.keys()]);
    // After a program has written the file anew, their numbers may mean other rows.
    const others = rows.filter((row) => !this.#hasSame(row, before.get(idOf(row))!));
    if (others.length > 0) {
      const [is, they] = others.length === 1 ? ['is', 'it was'] : ['are', 'they were'];
      const text = `${countText(others.length)} ${is} not as ${they} seen: someone else has changed the file.`;
      throw new ChangeRefused(412, text);
    }
    let done = 0;
    try {
      await this.#requests.delete(
        rows.map(idOf),
        (gone) => {
          done += gone;
          following.progress(done);
        },
        following.signal,
      );
    } finally {
      if (done > 0) this.#history.remember(this.#deletionStep(rows.slice(0, done)));
    }
    return done;
  }

  #deletionStep(rows: readonly GridRow[]): Step {
    const writable = this.#columns.filter(({ isWritable }) => isWritable);
    const step: Step = {
      label:
        rows.length === 1 ? 'the deletion of a row' : `the deletion of ${countText(rows.length)}`,
      isDoubtful: false,
      undo: async () => {
        const values = rows.map((row) =>
          Object.fromEntries(writable.map(({ name }) => [name, sent(cellOf(row, name))])),
        );
        const ids = await this.#requests.add(values, PUT_BACK);
        rows.forEach((row, index) => this.#moved.set(this.#presentId(idOf(row)), ids[index]!));
      },
      redo: async () => {
        const ids = rows.map((row) => this.#presentId(idOf(row)));
        if (step.isDoubtful) await this.#verify(ids, rows);
        await this.#requests.delete(ids, () => {});
      },
    };
    return step;
  }

  /** The version in which the rows are as they were left. Throws ChangeRefused when they are not. */
  async #verify(ids: readonly number[], expected: readonly GridRow[]): Promise<string> {
    const { rows, version } = await this.#requests.read(ids);
    const present = new Map(rows.map((row) => [idOf(row), row]));
    ids.forEach((id, index) => {
      const row = present.get(id);
      if (row === undefined || !this.#hasSame(row, expected[index]!)) {
        throw new ChangeRefused(412, `Row ${id} was changed by someone else meanwhile.`);
      }
    });
    return version;
  }

  #hasSame(one: GridRow, other: GridRow): boolean {
    return this.#columns.every(({ name }) => isSameCell(cellOf(one, name), cellOf(other, name)));
  }

  #presentId(id: number): number {
    let present = id;
    for (let next = this.#moved.get(present); next !== undefined; next = this.#moved.get(present)) {
      present = next;
    }
    return present;
  }
}
