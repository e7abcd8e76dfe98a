/**
 * The writing half of the page: hands buttons, keys and pastes to cell, row or block changes.
 * Created only for users with write access.
 */
import { countText, type GridData } from '../../../pages/grid/model.ts';
import { make, quietButton } from '../../shared/element.ts';
import type { Notices } from '../notices.ts';
import { clipOf } from '../table/clip.ts';
import type { RowStore } from '../table/rows.ts';
import type { GridTable } from '../table/table.ts';
import { BlockWriting } from './block-writing.ts';
import { CellWriting } from './cell-writing.ts';
import { Changes } from './changes.ts';
import { RowRequests } from './requests.ts';
import type { WrittenRow } from './row-edits.ts';
import { RowWriting, type WritingContext } from './row-writing.ts';
import { makeUndoControls } from './undo-controls.ts';
import { UndoHistory } from './undo-history.ts';

interface WritingOptions {
  readonly data: GridData;
  readonly store: RowStore;
  readonly table: GridTable;
  readonly notices: Notices;
  rowsChanged(): void;
}

export class Writing {
  readonly tools: HTMLElement;
  readonly cells: CellWriting;
  readonly rows: RowWriting;
  readonly blocks: BlockWriting;
  readonly #context: WritingContext;
  readonly #deleteButton: HTMLButtonElement;

  constructor({ data, store, table, notices, rowsChanged }: WritingOptions) {
    const history = new UndoHistory();
    const requests = new RowRequests({
      api: data.api,
      page: data.page,
      version: () => store.version,
      written: (version, rows) => this.#written(version, rows),
    });
    const changed = (): void => {
      undo.draw();
      rowsChanged();
    };
    const stepped = (): void => {
      store.reload();
      changed();
    };
    const undo = makeUndoControls({ history, notices, file: data.file, stepped });
    const changes = new Changes(requests, history, data.columns);
    const shared = { data, store, table, notices, requests, changes, history, undo, changed };
    this.#context = shared;
    this.rows = new RowWriting(shared);
    this.cells = new CellWriting(shared, this.rows);
    this.blocks = new BlockWriting(shared, this.rows, this.cells);
    const deletion = { class: 'quiet small danger' };
    this.#deleteButton = quietButton('Delete', () => this.rows.confirmDelete(), deletion);
    const adding = { 'data-key': 'n', 'data-action': 'Add a row' };
    this.tools = make(
      'div.tool-group',
      quietButton('Add row', () => this.rows.openNew(), adding),
      quietButton('Paste rows', () => this.rows.openPaste(''), { 'data-action': 'Paste rows' }),
      this.#deleteButton,
      undo.buttons,
    );
    addEventListener('beforeunload', (event) => {
      if (this.cells.isUnsaved || this.isBusy) event.preventDefault();
    });
    // On the document: the event targets wherever the caret is.
    document.addEventListener('paste', (event) => this.#pasted(event));
    this.selectionChanged();
  }

  get isBusy(): boolean {
    return this.#context.history.isBusy;
  }

  /** True when handled. */
  key(event: KeyboardEvent): boolean {
    const { table, undo } = this.#context;
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey;
    const key = event.key.toLowerCase();
    if (isCommand && (key === 'z' || key === 'y')) void undo.step(key === 'y' || event.shiftKey);
    else if (isCommand && key === 'd') void this.blocks.fillDown();
    else if (key !== 'delete' && key !== 'backspace') return false;
    else if (table.selection.rows.size > 0) this.rows.confirmDelete();
    else if (table.selection.block !== null) void this.blocks.empty();
    else void this.cells.empty();
    return true;
  }

  cut(): void {
    if (this.#context.table.selection.rows.size > 0) this.rows.confirmDelete();
    else void this.blocks.empty({ isCut: true });
  }

  selectionChanged(): void {
    const { table, data } = this.#context;
    const { size } = table.selection.rows;
    this.#deleteButton.hidden = size === 0;
    this.#deleteButton.textContent = `Delete ${countText(size)}`;
    this.#deleteButton.title = `Delete ${countText(size)} of ${data.file}`;
  }

  firstRows(): HTMLElement[] {
    return [
      quietButton('Add the first row', () => this.rows.openNew()),
      quietButton('Paste from a spreadsheet', () => this.rows.openPaste('')),
    ];
  }

  /** Somebody else changed the file: row ids may mean other rows. */
  fileChanged(): void {
    this.#context.history.doubt();
    this.#context.table.selection.selectNone();
  }

  #written(version: string, rows: readonly WrittenRow[]): void {
    const { store, table } = this.#context;
    this.cells.versionChanged(store.version, version);
    store.versionMade(version, rows);
    table.selection.written(rows);
  }

  #pasted(event: ClipboardEvent): void {
    const { table } = this.#context;
    const { selection } = table;
    const clip = event.clipboardData === null ? null : clipOf(event.clipboardData);
    if (document.activeElement !== table.element || clip === null || clip.text === '') return;
    event.preventDefault();
    const [[cell = ''] = []] = clip.cells;
    const isOneCell = clip.cells.length === 1 && clip.cells[0]!.length === 1;
    if (isOneCell && selection.block === null && selection.target !== null) this.cells.paste(cell);
    else if (clip.cells.length > 0) this.blocks.paste(clip);
  }
}
