/** Changes of rows, each remembered as an undo step. */
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  idOf,
} from '../../../pages/grid/model.ts';
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

interface BlockChange {
  readonly label: string;
  readonly edits: readonly RowEdit[];
  /** Appended after the edits. */
  readonly added: readonly Values[];
  readonly version: string;
  /**
   * Called on a conflict with the remaining edits: returns those to go on with and their version.
   * Rejects when the user gives up.
   */
  settle(rest: readonly RowEdit[]): Promise<{ edits: readonly RowEdit[]; version: string }>;
}

interface Following {
  progress(done: number): void;
  readonly signal: AbortSignal;
}

const PUT_BACK = { isPutBack: true };

export class Changes {
  readonly #requests: RowRequests;
  readonly #history: UndoHistory;
  readonly #columns: readonly GridColumn[];
  /** Old id to new id, of rows deleted and added again. */
  readonly #moved = new Map<number, number>();

  constructor(requests: RowRequests, history: UndoHistory, columns: readonly GridColumn[]) {
    this.#requests = requests;
    this.#history = history;
    this.#columns = columns;
  }

  /** `version` is read when the write's turn comes. Throws ChangeRefused. */
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

  /** Appends rows and returns their ids. Throws ChangeRefused. */
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
        // Those left by an undo that failed half-way.
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
   * Changes many cells and appends rows, some hundred per write, in one undo step. What was written
   * before a refusal or a stop stays and can be undone.
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

  #cellsStep(edits: readonly RowEdit[]): Step {
    /** Number of leading edits already reverted. */
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
   * Some hundred rows per write. What was deleted before a refusal or a stop stays deleted and can
   * be undone. Refuses everything if one row has changed.
   */
  delete(seen: readonly GridRow[], following: Following): Promise<number> {
    return this.#history.track(this.#delete(seen, following));
  }

  async #delete(seen: readonly GridRow[], following: Following): Promise<number> {
    const before = new Map(seen.map((row) => [idOf(row), row]));
    const { rows } = await this.#requests.read([...before.keys()]);
    // If another program rewrote the file, the ids may mean other rows.
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

  /**
   * Returns the version in which the rows hold the expected values. Throws ChangeRefused when they
   * do not.
   */
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
