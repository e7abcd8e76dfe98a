/** New rows from a spreadsheet, with a preview. */
import { countText, fits, type GridColumn } from '../../../pages/grid/model.ts';
import { messageOf } from '../../shared/ask.ts';
import {
  closer,
  make,
  makeForm,
  makeTable,
  openDialog,
  scrollBox,
  submitter,
} from '../../shared/element.ts';
import { parseCells } from '../table/clip.ts';
import { headOf, lineValues } from './block-plan.ts';
import type { Values } from './row-edits.ts';

const MAX_PREVIEW = 8;
const LONG_TEXT = 10_000;

interface PastedRows {
  /** Null where a cell has no column. */
  readonly columns: readonly (GridColumn | null)[];
  readonly rows: readonly Values[];
  readonly hasHead: boolean;
}

/** By the names in the first line, else the given columns in order. */
function pastedRows(cells: readonly string[][], columns: readonly GridColumn[]): PastedRows {
  const head = headOf(cells, columns);
  const width = Math.max(0, ...cells.map((row) => row.length));
  const order = head ?? columns;
  const targets = Array.from({ length: width }, (_, index) => order[index] ?? null);
  const lines = head === null ? cells : cells.slice(1);
  const rows = lines.map((line) => lineValues(line, targets));
  return { columns: targets, rows, hasHead: head !== null };
}

interface PasteOptions {
  readonly columns: readonly GridColumn[];
  readonly file: string;
  readonly text: string;
  create(rows: readonly Values[]): Promise<void>;
  /** Writes over the cells instead; null where there are none. */
  readonly replace: (() => void) | null;
}

export function openPaste({ columns, file, text, create, replace }: PasteOptions): void {
  const box = make('textarea', {
    rows: 5,
    'aria-label': 'Rows to add',
    placeholder: 'Paste rows from a spreadsheet, tab or comma separated',
    spellcheck: 'false',
    oninput: () => update(),
  });
  box.value = text;
  const preview = make('div.paste-preview', { 'aria-live': 'polite' });
  const problem = make('p.problem', { role: 'alert' });
  const add = submitter('Add');
  let pasted: PastedRows;
  const update = (): void => {
    pasted = pastedRows(parseCells(box.value), columns);
    const { length } = pasted.rows;
    problem.hidden = true;
    add.disabled = length === 0;
    add.textContent = length === 0 ? 'Add' : `Add ${countText(length)} to ${file}`;
    preview.replaceChildren(...previewOf(pasted));
  };
  // Browsers insert long text into a text area line by line and freeze.
  box.addEventListener('paste', (event) => {
    const pastedText = event.clipboardData?.getData('text/plain') ?? '';
    if (pastedText.length < LONG_TEXT) return;
    event.preventDefault();
    box.setRangeText(pastedText, box.selectionStart, box.selectionEnd, 'end');
    update();
  });
  const submit = (): void => {
    add.disabled = true;
    add.textContent = `Adding ${countText(pasted.rows.length)}…`;
    create(pasted.rows).then(
      () => dialog.close(),
      (error: unknown) => {
        update();
        problem.textContent = messageOf(error);
        problem.hidden = false;
      },
    );
  };
  update();
  const over = replace === null ? null : closer('Write over the cells instead…', replace);
  const actions = make('p.dialog-actions', add, closer('Cancel'), over);
  const dialog = openDialog(
    `Paste rows into ${file}`,
    { class: 'grid-dialog broad' },
    makeForm(submit, box, preview, problem, actions),
  );
  if (text !== '') add.focus();
}

function previewOf({ columns, rows, hasHead }: PastedRows): Node[] {
  if (rows.length === 0) return [];
  const shown = columns.filter((column) => column !== null);
  const textOf = (row: Values, { name }: GridColumn): string => String(row[name] ?? '');
  let doubtful = 0;
  for (const row of rows) {
    for (const column of shown) if (!fits(textOf(row, column), column)) doubtful++;
  }
  const cellOf = (row: Values, column: GridColumn): HTMLElement => {
    const text = textOf(row, column);
    return make('td', { class: fits(text, column) ? null : 'doubtful' }, text);
  };
  const body = rows.slice(0, MAX_PREVIEW).map((row) =>
    make(
      'tr',
      shown.map((column) => cellOf(row, column)),
    ),
  );
  const surplus = columns.length - shown.length;
  const notes = [
    hasHead ? 'The first line names the columns.' : 'The columns are filled from the left.',
    rows.length > MAX_PREVIEW ? `The first ${MAX_PREVIEW} of ${rows.length} rows are shown.` : '',
    surplus > 0 ? `${countText(surplus, 'column')} too many: these cells are left out.` : '',
    doubtful > 0
      ? `${countText(doubtful, 'cell')} (marked) will not fit the type of the column.`
      : '',
  ];
  const names = shown.map(({ name }) => name);
  return [
    make('p.fine', notes.filter((note) => note !== '').join(' ')),
    scrollBox('Rows to be added', makeTable(names, body, { class: 'rows' })),
  ];
}
