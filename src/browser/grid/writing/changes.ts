/** Changes of rows, each remembered as an undo step. All throw Refused. */
import {
  cellOf,
  countText,
  type GridColumn,
  type GridRow,
  idOf,
} from '../../../pages/grid/model.ts';
import { isConflict, Refused } from '../../shared/ask.ts';
import type { RowRequests } from './requests.ts';
import {
  isSameCell,
  nextPart,
  reversed,
  type RowEdit,
  sent,
  type Values,
  type WrittenRow,
} from './row-edits.ts';
import { joined, type Step, type UndoHistory } from './undo-history.ts';

export interface Settled {
  readonly edits: readonly RowEdit[];
  readonly version: string;
}

interface CellsChange {
  readonly label: string;
  readonly edits: readonly RowEdit[];
  /** Appended after the edits. */
  readonly added?: readonly Values[];
  /** Read when the first write's turn comes. */
  version(): string;
  /**
   * Called on a conflict with the remaining edits: returns those to go on with and their version.
   * Rejects when the user gives up.
   */
  settle(rest: readonly RowEdit[]): Promise<Settled>;
}

interface Following {
  progress(done: number): void;
  readonly signal: AbortSignal;
}

const PUT_BACK = { isPutBack: true };

export class Changes {
  /** Old id to new id, of rows deleted and added again. */
  readonly #moved = new Map<number, number>();

  constructor(
    private readonly requests: RowRequests,
    private readonly history: UndoHistory,
    private readonly columns: readonly GridColumn[],
  ) {}

  /**
   * Changes cells and appends rows, some hundred per write, in one undo step. What was written
   * before a refusal or a stop stays and can be undone. Returns the new rows' ids.
   */
  write(change: CellsChange, following?: Following): Promise<number[]> {
    return this.history.track(this.#write(change, following));
  }

  async #write(change: CellsChange, following?: Following): Promise<number[]> {
    const done: RowEdit[] = [];
    const parts: Step[] = [];
    const { added = [], label } = change;
    let { edits: rest, version } = change;
    let ids: number[] = [];
    try {
      while (rest.length > 0 && following?.signal.aborted !== true) {
        const part = nextPart(rest);
        try {
          const made = await this.requests.change(this.#written(part), { version });
          version = () => made;
        } catch (error) {
          if (!isConflict(error)) throw error;
          const settled = await change.settle(rest);
          rest = settled.edits;
          version = () => settled.version;
          continue;
        }
        done.push(...part);
        rest = rest.slice(part.length);
        following?.progress(done.length);
      }
      if (added.length > 0 && following?.signal.aborted !== true) {
        ids = await this.requests.add(added);
        parts.push(this.#rowsStep('', added, ids, true));
      }
    } finally {
      if (done.length > 0) parts.unshift(this.#cellsStep(done));
      if (parts.length > 0) this.history.remember(joined(label, parts));
    }
    return ids;
  }

  /** Appends rows and returns their ids. */
  create(added: readonly Values[]): Promise<number[]> {
    const what = added.length === 1 ? 'new row' : countText(added.length, 'new row');
    const change = { label: `the ${what}`, edits: [], added, version: () => '' };
    return this.write({ ...change, settle: (edits) => Promise.resolve({ edits, version: '' }) });
  }

  #cellsStep(edits: readonly RowEdit[]): Step {
    /** Number of leading edits already reverted. */
    let back = 0;
    const put = async (
      part: readonly RowEdit[],
      targets: readonly RowEdit[],
      gone: (count: number) => void,
    ): Promise<void> => {
      let version: (() => string) | null = null;
      if (step.isDoubtful) {
        const ids = part.map(({ row }) => this.#presentId(idOf(row)));
        const expected = part.map(({ row, values }) => ({ ...row, ...values }) as GridRow);
        const verified = await this.#verify(ids, expected);
        version = () => verified;
      }
      for (let from = 0; from < targets.length;) {
        const sending = nextPart(targets.slice(from));
        const written = this.#written(sending);
        const made = await this.requests.change(written, { version, ...PUT_BACK });
        if (version !== null) version = () => made;
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
  delete(seen: readonly GridRow[], following: Following): Promise<void> {
    return this.history.track(this.#delete(seen, following));
  }

  async #delete(seen: readonly GridRow[], { progress, signal }: Following): Promise<void> {
    const before = new Map(seen.map((row) => [idOf(row), row]));
    const { rows } = await this.requests.read([...before.keys()]);
    // If another program rewrote the file, the ids may mean other rows.
    const others = rows.filter((row) => !this.#hasSame(row, before.get(idOf(row))!));
    if (others.length > 0) {
      const [is, they] = others.length === 1 ? ['is', 'it was'] : ['are', 'they were'];
      const text = `${countText(others.length)} ${is} not as ${they} seen: someone else has changed the file.`;
      throw new Refused(412, text);
    }
    const ids = rows.map(idOf);
    let done = 0;
    const gone = (count: number): void => {
      done += count;
      progress(done);
    };
    try {
      await this.requests.delete(ids, gone, signal);
    } finally {
      const what = done === 1 ? 'a row' : countText(done);
      const step = this.#rowsStep(`the deletion of ${what}`, rows.slice(0, done), ids, false);
      if (done > 0) this.history.remember(step);
    }
  }

  /** Rows that were added (`isNew`), or deleted; `ids` they had then. */
  #rowsStep(label: string, rows: readonly Values[], ids: readonly number[], isNew: boolean): Step {
    const writable = new Set(this.columns.filter((one) => one.isWritable).map(({ name }) => name));
    /** Number of leading rows that a removal has got through. */
    let gone = isNew ? 0 : rows.length;
    const remove = async (): Promise<void> => {
      const present = ids.slice(gone, rows.length).map((id) => this.#presentId(id));
      if (step.isDoubtful) await this.#verify(present, rows.slice(gone));
      await this.requests.delete(present, (count) => {
        gone += count;
      });
    };
    const restore = async (): Promise<void> => {
      const values = rows.map((row) => {
        const cells = Object.entries(row).filter(([name]) => writable.has(name));
        return Object.fromEntries(cells.map(([name, value]) => [name, sent(value)]));
      });
      const made = await this.requests.add(values, PUT_BACK);
      made.forEach((id, index) => this.#moved.set(this.#presentId(ids[index]!), id));
      gone = 0;
    };
    const [undo, redo] = isNew ? [remove, restore] : [restore, remove];
    const step: Step = { label, isDoubtful: false, undo, redo };
    return step;
  }

  /** Returns the version in which the rows hold the expected values. */
  async #verify(ids: readonly number[], expected: readonly Values[]): Promise<string> {
    const { rows, version } = await this.requests.read(ids);
    const present = new Map(rows.map((row) => [idOf(row), row]));
    ids.forEach((id, index) => {
      const row = present.get(id);
      if (row === undefined || !this.#hasSame(row, expected[index]!)) {
        throw new Refused(412, `Row ${id} was changed by someone else meanwhile.`);
      }
    });
    return version;
  }

  #hasSame(one: GridRow, other: Values): boolean {
    return this.columns.every(({ name }) => isSameCell(cellOf(one, name), cellOf(other, name)));
  }

  #presentId(id: number): number {
    let present = id;
    for (let next = this.#moved.get(present); next !== undefined; next = this.#moved.get(present)) {
      present = next;
    }
    return present;
  }
}
