/**
 * Changes of many cells: paste, fill, clear. Each is one undo step, sent in a few writes that can
 * be stopped, and asks about rows that others have changed meanwhile.
 */
import {
  type BlockPlan,
  namedColumns,
  pastePlaces,
  planEmpty,
  planFill,
  planPaste,
  valueCount,
  withoutMisfits,
} from './block-plan.ts';
import type { CellWriting } from './cell-writing.ts';
import type { Clip } from '../table/clip.ts';
import { askAboutRows, type RowConflict } from './conflict-dialog.ts';
import {
  blankNote,
  countText,
  type GridColumn,
  type GridRow,
  idOf,
} from '../../../pages/grid/model.ts';
import { type Fill, filledBlock, planFillArea } from './fill-plan.ts';
import { sizeOf } from '../table/places.ts';
import { hasCells, type Misfit, type RowEdit, type Values } from './row-edits.ts';
import { UNDONE } from '../notices.ts';
import { openPasteOver } from './paste-over.ts';
import { ChangeRefused, reasonOf } from './row-requests.ts';
import type { RowWriting } from './row-writing.ts';
import { mayPass } from '../table/rows.ts';
import { MAX_SELECTED } from '../table/selection.ts';
import { isFileOrder } from '../../../pages/grid/view.ts';
import type { WritingContext } from './context.ts';

interface Work {
  readonly label: string;
  readonly edits: readonly RowEdit[];
  readonly added: readonly Values[];
  readonly version: string;
  readonly doing: string;
  /** Message when complete. */
  readonly done: string;
}

export class BlockWriting {
  readonly #context: WritingContext;
  readonly #newRows: RowWriting;
  readonly #cells: CellWriting;

  constructor(context: WritingContext, rows: RowWriting, cells: CellWriting) {
    this.#context = context;
    this.#newRows = rows;
    this.#cells = cells;
  }

  paste(clip: Clip): void {
    const { table } = this.#context;
    const isNamed = namedColumns(clip.cells, table.columns) !== null;
    const over = (): void => void this.#pasteOver(clip);
    if (table.selection.target === null) this.#newRows.openPaste(clip.text);
    else if (isNamed) this.#newRows.openPaste(clip.text, over);
    else over();
  }

  async #pasteOver(clip: Clip): Promise<void> {
    const { table, store, requests, notices, data } = this.#context;
    const block = table.selection.target;
    if (block === null) return;
    const target = { block, columns: table.columns, total: store.total ?? 0 };
    const places = pastePlaces(clip.cells, target);
    if (places.cells.length > MAX_SELECTED) {
      const most = countText(MAX_SELECTED);
      notices.show(`Up to ${most} are pasted over cells at once; upload a file for more.`);
      return;
    }
    const found = await this.#rows(places.top, places.bottom);
    if (found === null) return;
    const { rows, version } = found;
    const plan = planPaste(places, rows);
    if (this.#isLocked(plan)) return;
    openPasteOver({
      file: data.file,
      plan,
      isFileOrder: isFileOrder(location.search),
      misfits: (values) => requests.misfits(values),
      agree: ({ edits, added }) => {
        const count = countText(valueCount(edits), 'value');
        const replaced =
          edits.length > 0 ? [`Replaced ${count} in ${countText(edits.length)}`] : [];
        const news = added.length > 0 ? [`added ${countText(added.length)}`] : [];
        const done = `${[...replaced, ...news].join(' and ')} of ${data.file}.`;
        void this.#apply({
          label: `the paste of ${edits.length > 0 ? count : countText(added.length)}`,
          edits,
          added,
          version,
          doing: 'Replacing',
          done: done[0]!.toUpperCase() + done.slice(1),
        }).then(() => {
          if (!isFileOrder(location.search) || places.hasHead) return;
          const right = Math.min(block.left + places.columns.length, table.columns.length) - 1;
          table.selection.selectBlock({
            ...block,
            bottom: places.top + places.cells.length - 1,
            right,
          });
        });
      },
      addRows: () => this.#newRows.openPaste(clip.text),
      closed: () => table.element.focus({ preventScroll: true }),
    });
  }

  /** Reports when only read-only columns would change. */
  #isLocked({ edits, added, locked, hasHead }: BlockPlan): boolean {
    if (edits.length + added.length > 0 || locked.length === 0 || hasHead) return false;
    this.#context.notices.show(`${locked.join(', ')} cannot be changed.`);
    return true;
  }

  /** Fills the block from its first row, or the active cell from the one above. */
  async fillDown(): Promise<void> {
    const { table } = this.#context;
    const { target } = table.selection;
    if (target === null) return;
    const isOneRow = target.top === target.bottom;
    const top = isOneRow ? target.top - 1 : target.top;
    if (top < 0) return;
    const columns = this.#writable(table.columnsOf(target));
    const found = columns.length === 0 ? null : await this.#rows(top, target.bottom);
    if (found === null) return;
    const { rows, version } = found;
    const edits = planFill(rows, columns);
    const what = this.#whatOf(edits);
    await this.#applyCells(edits, version, {
      label: `the filling of ${what.cells}`,
      doing: 'Filling',
      done: `${what.text} filled from row ${idOf(rows[0]!)}.`,
    });
  }

  async fill(fill: Fill, isCopy: boolean): Promise<void> {
    const { table, notices } = this.#context;
    const block = filledBlock(fill);
    if (sizeOf(block).rows > MAX_SELECTED) {
      notices.show(`Up to ${countText(MAX_SELECTED)} are filled at once; upload a file for more.`);
      return;
    }
    const columns = this.#writable(table.columnsOf(fill.area));
    const found = columns.length === 0 ? null : await this.#rows(block.top, block.bottom);
    if (found === null) return;
    const plan = planFillArea(fill, { ...found, top: block.top }, table.columns, isCopy);
    table.selection.selectBlock(block);
    // A sideways fill crosses columns of other types.
    const isSideways = fill.area.left !== fill.source.left || fill.area.right !== fill.source.right;
    const misfits = isSideways ? await this.#misfits(plan.edits) : [];
    const { edits } = withoutMisfits({ ...plan, added: [] }, misfits);
    const what = this.#whatOf(edits);
    const notes = [
      plan.goesOn.length > 0 ? ` ${plan.goesOn.join(', ')}: went on as a series.` : '',
      misfits.length > 0 ? ` ${countText(misfits.length, 'value')} did not fit.` : '',
    ].join('');
    if (edits.length === 0 && misfits.length > 0) notices.show(`Nothing was filled:${notes}`);
    await this.#applyCells(edits, found.version, {
      label: `the filling of ${what.cells}`,
      doing: 'Filling',
      done: `${what.text} filled.${notes}`,
    });
  }

  /** If the check gets no response, the write itself is checked and refused as a whole. */
  #misfits(edits: readonly RowEdit[]): Promise<readonly Misfit[]> {
    return this.#context.requests.misfits(edits.map(({ values }) => values)).catch(() => []);
  }

  async empty({ isCut = false } = {}): Promise<void> {
    const { table, data } = this.#context;
    const { target } = table.selection;
    if (target === null) return;
    const columns = this.#writable(table.columnsOf(target));
    const found = columns.length === 0 ? null : await this.#rows(target.top, target.bottom);
    if (found === null) return;
    const { rows, version } = found;
    const edits = planEmpty(rows, columns);
    const what = this.#whatOf(edits);
    const names = columns.map(({ name }) => name);
    await this.#applyCells(edits, version, {
      label: isCut ? `the cut of ${what.cells}` : `the emptying of ${what.cells}`,
      doing: isCut ? 'Cutting' : 'Emptying',
      done: `${what.text} ${isCut ? 'on the clipboard, and ' : ''}blank now.${blankNote(data, names)}`,
    });
  }

  #writable(columns: readonly GridColumn[]): readonly GridColumn[] {
    const writable = columns.filter(({ isWritable }) => isWritable);
    const names = columns.map(({ name }) => name).join(', ');
    if (writable.length === 0) this.#context.notices.show(`${names} cannot be changed.`);
    return writable;
  }

  #whatOf(edits: readonly RowEdit[]): { readonly cells: string; readonly text: string } {
    const count = valueCount(edits);
    const [first] = edits;
    const name = Object.keys(first?.values ?? {})[0] ?? '';
    if (count === 1) {
      const cells = `${name} of row ${idOf(first!.row)}`;
      return { cells, text: `${cells} is` };
    }
    const cells = countText(count, 'value');
    return { cells, text: `${cells} in ${countText(edits.length)} are` };
  }

  #applyCells(
    edits: readonly RowEdit[],
    version: string,
    texts: Pick<Work, 'label' | 'doing' | 'done'>,
  ): Promise<void> | void {
    if (edits.length === 0) return;
    return this.#apply({ edits, added: [], version, ...texts });
  }

  /** Both ends included, loaded or not; null, with a message, when they cannot be fetched. */
  async #rows(
    top: number,
    bottom: number,
  ): Promise<{ readonly rows: readonly GridRow[]; readonly version: string } | null> {
    const { store, notices } = this.#context;
    await this.#cells.settled();
    const { version } = store;
    if (bottom < top) return { rows: [], version };
    const rows = await store.between(top, bottom);
    if (rows.length === bottom - top + 1) return { rows, version };
    notices.show('These rows cannot be fetched now. Try again.');
    return null;
  }

  async #apply(work: Work): Promise<void> {
    const { label, edits, added, version, doing, done } = work;
    const { changes, notices, table, store, undo, run, changed } = this.#context;
    const giveUp = new AbortController();
    const all = countText(edits.length);
    let count = 0;
    const progress = (rows: number): void => {
      count = rows;
      if (count === edits.length && added.length === 0) return;
      const stop = { label: 'Stop', run: () => giveUp.abort() };
      notices.show(`${doing}… ${countText(count)} of ${all}`, stop);
    };
    this.#cells.forget(edits);
    if (edits.length > 1) progress(0);
    let kept = 0;
    const settle = async (rest: readonly RowEdit[]) => {
      const settled = await this.#settle(rest);
      kept += rest.length - settled.edits.length;
      return settled;
    };
    try {
      const change = { label, edits, added, version, settle };
      const { signal } = giveUp;
      const ids = await run(() => changes.replace(change, { progress, signal }));
      // In file order new rows come last.
      if (isFileOrder(location.search)) store.total = (store.total ?? 0) + ids.length;
      const missing = edits.length - count - kept;
      const rest = [
        missing > 0 ? ` Stopped: ${countText(missing)} of ${all} are as they were.` : '',
        kept > 0 ? ` ${countText(kept)} changed by someone else stayed so.` : '',
      ];
      undo.offer(done + rest.join(''));
    } catch (error) {
      const reason = reasonOf(error);
      const again = { label: 'Try again', run: () => void this.#apply(work) };
      const isWorth = error instanceof ChangeRefused && mayPass(error.status);
      if (count === 0) {
        notices.show(`Nothing was changed: ${reason}`, isWorth ? again : null, UNDONE);
      } else {
        const text = `Not all of it is done: ${reason} ${countText(count)} of ${all} are changed.`;
        undo.offer(text, UNDONE);
      }
    }
    store.reload();
    changed();
    void table.selection.fetchBlock();
  }

  /** After a conflict: the rows that are unchanged, and those the user decides to overwrite. */
  async #settle(rest: readonly RowEdit[]): Promise<{ edits: readonly RowEdit[]; version: string }> {
    const { requests, history, data } = this.#context;
    const { rows, version } = await requests.read(rest.map(({ row }) => idOf(row)));
    const present = new Map(rows.map((row) => [idOf(row), row]));
    history.doubt();
    const clear: RowEdit[] = [];
    const conflicts: RowConflict[] = [];
    for (const { row, values } of rest) {
      const now = present.get(idOf(row));
      // Unchanged, or already written by a request whose response was lost.
      const isClear = now !== undefined && (hasCells(now, row) || hasCells(now, values));
      if (isClear) clear.push({ row, values });
      else conflicts.push({ before: row, present: now, values });
    }
    if (conflicts.length === 0) return { edits: clear, version };
    const decision = await askAboutRows(data.file, conflicts);
    if (decision === 'cancel')
      throw new ChangeRefused(0, 'Stopped, since someone else has changed the file.');
    const mine =
      decision === 'keep'
        ? []
        : conflicts.flatMap(({ present: now, values }) =>
            now === undefined ? [] : [{ row: now, values }],
          );
    return { edits: [...clear, ...mine], version };
  }
}
