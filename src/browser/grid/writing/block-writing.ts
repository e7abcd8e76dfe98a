/**
 * Changes of many cells: paste, fill, clear. Each is one undo step, sent in a few writes that can
 * be stopped, and asks about rows that others have changed meanwhile.
 */
import {
  blankNote,
  countText,
  type GridColumn,
  type GridRow,
  idOf,
} from '../../../pages/grid/model.ts';
import { isFileOrder } from '../../../pages/grid/view.ts';
import { isConflict, Refused } from '../../shared/ask.ts';
import { UNDONE } from '../notices.ts';
import type { Clip } from '../table/clip.ts';
import { sizeOf } from '../table/places.ts';
import { MAX_SELECTED } from '../table/selection.ts';
import {
  namedColumns,
  pastePlaces,
  planEmpty,
  planFill,
  planPaste,
  valueCount,
  withoutMisfits,
} from './block-plan.ts';
import type { CellWriting } from './cell-writing.ts';
import { type Fill, filledBlock, planFillArea } from './fill-plan.ts';
import { reasonOf } from './requests.ts';
import type { RowEdit, Values } from './row-edits.ts';
import { followWork, type RowWriting, tellUndone, type WritingContext } from './row-writing.ts';
import { openPasteOver } from './paste.ts';

interface Work {
  readonly label: string;
  readonly edits: readonly RowEdit[];
  readonly added?: readonly Values[];
  readonly version: string;
  readonly doing: string;
  /** Message when complete. */
  readonly done: string;
}

interface FoundRows {
  readonly rows: readonly GridRow[];
  readonly version: string;
}

export class BlockWriting {
  constructor(
    private readonly context: WritingContext,
    private readonly newRows: RowWriting,
    private readonly cells: CellWriting,
  ) {}

  paste(clip: Clip): void {
    const { table } = this.context;
    const over = (): void => void this.#pasteOver(clip);
    const isNamed = namedColumns(clip.cells, table.columns) !== null;
    if (table.selection.target === null) this.newRows.openPaste(clip.text);
    else if (isNamed) this.newRows.openPaste(clip.text, over);
    else over();
  }

  async #pasteOver(clip: Clip): Promise<void> {
    const { table, store, requests, notices, data } = this.context;
    const block = table.selection.target;
    if (block === null) return;
    const target = { block, columns: table.columns, total: store.total ?? 0 };
    const places = pastePlaces(clip.cells, target);
    if (places.cells.length > MAX_SELECTED) return this.#tellTooMany('pasted over cells');
    const found = await this.#rows(places.top, places.bottom);
    if (found === null) return;
    const plan = planPaste(places, found.rows);
    if (plan.edits.length + plan.added.length === 0 && plan.locked.length > 0 && !plan.hasHead) {
      notices.show(`${plan.locked.join(', ')} cannot be changed.`);
      return;
    }
    openPasteOver({
      file: data.file,
      plan,
      isFileOrder: isFileOrder(location.search),
      misfits: (values) => requests.misfits(values),
      agree: async ({ edits, added }) => {
        const count = countText(valueCount(edits), 'value');
        const news = countText(added.length);
        const parts = [
          edits.length > 0 ? `replaced ${count} in ${countText(edits.length)}` : '',
          added.length > 0 ? `added ${news}` : '',
        ];
        const done = `${parts.filter((part) => part !== '').join(' and ')} of ${data.file}.`;
        await this.#apply({
          label: `the paste of ${edits.length > 0 ? count : news}`,
          edits,
          added,
          version: found.version,
          doing: 'Replacing',
          done: done[0]!.toUpperCase() + done.slice(1),
        });
        if (!isFileOrder(location.search) || places.hasHead) return;
        const right = Math.min(block.left + places.columns.length, table.columns.length) - 1;
        const bottom = places.top + places.cells.length - 1;
        table.selection.selectBlock({ ...block, bottom, right });
      },
      addRows: () => this.newRows.openPaste(clip.text),
      closed: () => table.element.focus({ preventScroll: true }),
    });
  }

  #tellTooMany(what: string): void {
    const most = countText(MAX_SELECTED);
    this.context.notices.show(`Up to ${most} are ${what} at once; upload a file for more.`);
  }

  /** Fills the block from its first row, or the active cell from the one above. */
  async fillDown(): Promise<void> {
    const { table } = this.context;
    const { target } = table.selection;
    if (target === null) return;
    const top = target.top === target.bottom ? target.top - 1 : target.top;
    if (top < 0) return;
    const columns = this.#writable(table.columnsOf(target));
    const found = columns.length === 0 ? null : await this.#rows(top, target.bottom);
    if (found === null) return;
    const from = ` from row ${idOf(found.rows[0]!)}`;
    await this.#applyFill(planFill(found.rows, columns), found, `filled${from}.`);
  }

  async fill(fill: Fill, isCopy: boolean): Promise<void> {
    const { table, notices, requests } = this.context;
    const block = filledBlock(fill);
    if (sizeOf(block).rows > MAX_SELECTED) return this.#tellTooMany('filled');
    const columns = this.#writable(table.columnsOf(fill.area));
    const found = columns.length === 0 ? null : await this.#rows(block.top, block.bottom);
    if (found === null) return;
    const plan = planFillArea(fill, { ...found, top: block.top }, table.columns, isCopy);
    table.selection.selectBlock(block);
    // A sideways fill crosses columns of other types. If the check gets no response, the write
    // itself is checked and refused as a whole.
    const isSideways = fill.area.left !== fill.source.left || fill.area.right !== fill.source.right;
    const values = plan.edits.map((edit) => edit.values);
    const misfits = isSideways ? await requests.misfits(values).catch(() => []) : [];
    const { edits } = withoutMisfits({ ...plan, added: [] }, misfits);
    const notes = [
      plan.goesOn.length > 0 ? ` ${plan.goesOn.join(', ')}: went on as a series.` : '',
      misfits.length > 0 ? ` ${countText(misfits.length, 'value')} did not fit.` : '',
    ].join('');
    if (edits.length === 0 && misfits.length > 0) notices.show(`Nothing was filled:${notes}`);
    await this.#applyFill(edits, found, `filled.${notes}`);
  }

  async #applyFill(edits: readonly RowEdit[], { version }: FoundRows, done: string): Promise<void> {
    const { cells, text } = whatOf(edits);
    const label = `the filling of ${cells}`;
    await this.#apply({ label, edits, version, doing: 'Filling', done: `${text} ${done}` });
  }

  async empty({ isCut = false } = {}): Promise<void> {
    const { table, data } = this.context;
    const { target } = table.selection;
    if (target === null) return;
    const columns = this.#writable(table.columnsOf(target));
    const found = columns.length === 0 ? null : await this.#rows(target.top, target.bottom);
    if (found === null) return;
    const edits = planEmpty(found.rows, columns);
    const { cells, text } = whatOf(edits);
    const names = columns.map(({ name }) => name);
    const done = `${text} ${isCut ? 'on the clipboard, and ' : ''}blank now.`;
    await this.#apply({
      label: `the ${isCut ? 'cut' : 'emptying'} of ${cells}`,
      edits,
      version: found.version,
      doing: isCut ? 'Cutting' : 'Emptying',
      done: done + blankNote(data, names),
    });
  }

  #writable(columns: readonly GridColumn[]): readonly GridColumn[] {
    const writable = columns.filter(({ isWritable }) => isWritable);
    const names = columns.map(({ name }) => name).join(', ');
    if (writable.length === 0) this.context.notices.show(`${names} cannot be changed.`);
    return writable;
  }

  /** Both ends included, loaded or not; null, with a message, when they cannot be fetched. */
  async #rows(top: number, bottom: number): Promise<FoundRows | null> {
    const { store, notices } = this.context;
    await this.cells.settled();
    const { version } = store;
    if (bottom < top) return { rows: [], version };
    const rows = await store.between(top, bottom);
    if (rows.length === bottom - top + 1) return { rows, version };
    notices.show('These rows cannot be fetched now. Try again.');
    return null;
  }

  async #apply(work: Work): Promise<void> {
    const { label, edits, added = [], version, doing, done } = work;
    if (edits.length + added.length === 0) return;
    const { changes, notices, table, store, undo, changed } = this.context;
    const following = followWork(notices, doing, edits.length);
    this.cells.forget(edits);
    if (edits.length > 1) following.progress(0);
    let kept = 0;
    const settle = async (rest: readonly RowEdit[]) => {
      const settled = await this.newRows.settle(rest).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
        throw new Refused(0, 'Stopped, since someone else has changed the file.');
      });
      kept += rest.length - settled.edits.length;
      return settled;
    };
    try {
      const change = { label, edits, added, version: () => version, settle };
      const ids = await changes.write(change, following);
      // In file order new rows come last.
      if (isFileOrder(location.search)) store.total = (store.total ?? 0) + ids.length;
      const missing = edits.length - following.done - kept;
      const all = countText(edits.length);
      const rest = [
        missing > 0 ? ` Stopped: ${countText(missing)} of ${all} are as they were.` : '',
        kept > 0 ? ` ${countText(kept)} changed by someone else stayed so.` : '',
      ];
      undo.offer(done + rest.join(''));
    } catch (error) {
      const reason = reasonOf(error);
      if (following.done === 0) {
        tellUndone(notices, `Nothing was changed: ${reason}`, error, () => void this.#apply(work));
      } else {
        undo.offer(`Not all of it is done: ${reason} ${following.text()} are changed.`, UNDONE);
      }
    }
    store.reload();
    changed();
    void table.selection.fetchBlock();
  }
}

/** `price of row 3` and `price of row 3 is`, or `4 values` and `4 values in 2 rows are`. */
function whatOf(edits: readonly RowEdit[]): { readonly cells: string; readonly text: string } {
  const count = valueCount(edits);
  if (count === 1) {
    const [{ row, values }] = edits as [RowEdit];
    const cells = `${Object.keys(values)[0]} of row ${idOf(row)}`;
    return { cells, text: `${cells} is` };
  }
  const cells = countText(count, 'value');
  return { cells, text: `${cells} in ${countText(edits.length)} are` };
}
