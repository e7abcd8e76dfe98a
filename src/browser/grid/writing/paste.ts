/** New rows from a spreadsheet, with a preview. */
import { parseCells } from '../table/clip.ts';
import { make, makeDialog, quietButton } from '../element.ts';
import { countText, fits, type GridColumn, plainNumber } from '../../../pages/grid/model.ts';
import type { Values } from './row-edits.ts';

const MAX_PREVIEW = 8;
const LONG_TEXT = 10_000;

interface PastedRows {
  readonly columns: readonly (string | null)[];
  readonly rows: readonly Values[];
  readonly surplus: number;
  readonly hasHead: boolean;
}

/** By the names in the first line, else the given columns in order. */
function pastedRows(cells: readonly string[][], columns: readonly GridColumn[]): PastedRows {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const names = new Map(columns.map(({ name }) => [name.trim().toLowerCase(), name]));
  const head = cells[0]?.map((cell) => names.get(cell.trim().toLowerCase()) ?? null) ?? [];
  const hasHead = head.length > 0 && head.every((name) => name !== null);
  const width = Math.max(0, ...cells.map((row) => row.length));
  const order = hasHead ? head : columns.map(({ name }) => name);
  const targets = Array.from({ length: width }, (_, index) => order[index] ?? null);
  const rows = (hasHead ? cells.slice(1) : cells).map((row) =>
    Object.fromEntries(
      row.flatMap((cell, index) => {
        const name = targets[index];
        return name === null || name === undefined
          ? []
          : [[name, plainNumber(cell, byName.get(name)!)] as const];
      }),
    ),
  );
  const surplus = targets.filter((name) => name === null).length;
  return { columns: targets, rows, surplus, hasHead };
}

interface PasteOptions {
  readonly columns: readonly GridColumn[];
  readonly file: string;
  readonly text: string;
  create(rows: readonly Values[]): Promise<void>;
  replace?(): void;
}

export function openPaste({ columns, file, text, create, replace }: PasteOptions): void {
  const box = make('textarea', {
    rows: 5,
    'aria-label': 'Rows to add',
    placeholder: 'Paste rows from a spreadsheet, tab or comma separated',
    spellcheck: 'false',
  });
  box.value = text;
  const preview = make('div', { class: 'paste-preview', 'aria-live': 'polite' });
  const problem = make('p', { class: 'problem', role: 'alert' });
  const add = make('button', { type: 'submit', class: 'small' }, 'Add');
  const cancel = quietButton('Cancel', () => dialog.close());
  const form = make(
    'form',
    {},
    box,
    preview,
    problem,
    make(
      'p',
      { class: 'dialog-actions' },
      add,
      cancel,
      replace === undefined
        ? null
        : quietButton('Write over the cells instead…', () => {
            dialog.close();
            replace();
          }),
    ),
  );
  const dialog = makeDialog(`Paste rows into ${file}`, form);
  dialog.classList.add('broad');
  let pasted = pastedRows([], columns);
  const update = (): void => {
    pasted = pastedRows(parseCells(box.value), columns);
    problem.hidden = true;
    add.disabled = pasted.rows.length === 0;
    add.textContent =
      pasted.rows.length === 0 ? 'Add' : `Add ${countText(pasted.rows.length)} to ${file}`;
    preview.replaceChildren(...previewOf(pasted, columns));
  };
  box.addEventListener('input', update);
  // Browsers insert long text into a text area line by line and freeze.
  box.addEventListener('paste', (event) => {
    const pastedText = event.clipboardData?.getData('text/plain') ?? '';
    if (pastedText.length < LONG_TEXT) return;
    event.preventDefault();
    box.setRangeText(pastedText, box.selectionStart, box.selectionEnd, 'end');
    update();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    add.disabled = true;
    add.textContent = `Adding ${countText(pasted.rows.length)}…`;
    create(pasted.rows)
      .then(() => dialog.close())
      .catch((error: unknown) => {
        problem.textContent = error instanceof Error ? error.message : String(error);
        update();
        problem.hidden = false;
      });
  });
  update();
  dialog.showModal();
  if (text !== '') add.focus();
}

function previewOf(
  { columns: names, rows, surplus, hasHead }: PastedRows,
  columns: readonly GridColumn[],
): Node[] {
  if (rows.length === 0) return [];
  const byName = new Map(columns.map((column) => [column.name, column]));
  const shown = names.filter((name) => name !== null);
  const head = make('tr', {}, ...shown.map((name) => make('th', { scope: 'col' }, name)));
  let doubtful = 0;
  const cellOf = (row: Values, name: string): HTMLElement => {
    const value = String(row[name] ?? '');
    const isDoubtful = !fits(value, byName.get(name)!);
    return make('td', { class: isDoubtful ? 'doubtful' : null }, value);
  };
  for (const row of rows) {
    for (const name of shown) if (!fits(String(row[name] ?? ''), byName.get(name)!)) doubtful++;
  }
  const body = rows
    .slice(0, MAX_PREVIEW)
    .map((row) => make('tr', {}, ...shown.map((name) => cellOf(row, name))));
  const notes = [
    hasHead ? 'The first line names the columns.' : 'The columns are filled from the left.',
    rows.length > MAX_PREVIEW ? `The first ${MAX_PREVIEW} of ${rows.length} rows are shown.` : '',
    surplus > 0 ? `${countText(surplus, 'column')} too many: these cells are left out.` : '',
    doubtful > 0
      ? `${countText(doubtful, 'cell')} (marked) will not fit the type of the column.`
      : '',
  ];
  return [
    make('p', { class: 'fine' }, notes.filter((note) => note !== '').join(' ')),
    make(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rows to be added' },
      make('table', { class: 'rows' }, make('thead', {}, head), make('tbody', {}, ...body)),
    ),
  ];
}
