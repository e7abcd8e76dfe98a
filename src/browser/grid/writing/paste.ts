/** New rows from a spreadsheet, with a preview. */
import {
  countText,
  fits,
  type GridColumn,
  cellOf,
  type CellValue,
  idOf,
  lineText,
} from '../../../pages/grid/model.ts';
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
import { headOf, lineValues, type BlockPlan, valueCount, withoutMisfits } from './block-plan.ts';
import type { Values, Misfit, RowEdit } from './row-edits.ts';
import { mismatchReason } from '../../../tables/edit/mismatch-text.ts';

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
    preview.replaceChildren(...rowsPreview(pasted));
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

function rowsPreview({ columns, rows, hasHead }: PastedRows): Node[] {
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

const MAX_MISFITS = 5;
const MAX_TEXT = 60;

type AgreedPaste = Pick<BlockPlan, 'edits' | 'added'>;

interface PasteOverOptions {
  readonly file: string;
  readonly plan: BlockPlan;
  readonly isFileOrder: boolean;
  misfits(rows: readonly Values[]): Promise<readonly Misfit[]>;
  agree(paste: AgreedPaste): void;
  addRows(): void;
  closed(): void;
}

/**
 * Preview of a paste over cells: old and new values, misfits, rows beyond the last one. Misfits are left out of what is
 * agreed to.
 */
export function openPasteOver(options: PasteOverOptions): void {
  const { file, plan, isFileOrder } = options;
  const { edits, added } = plan;
  let misfits: readonly Misfit[] = [];
  const checking = make('p.fine', 'Checking whether the values fit…');
  const notes = make('div', { 'aria-live': 'polite' }, checking);
  const preview = make('div.paste-preview', previewOf(plan, []));
  const box = make('input', { type: 'checkbox', checked: isFileOrder, onchange: () => update() });
  const go = submitter('Checking…', { disabled: true });
  const agreed = (): AgreedPaste => {
    const left = withoutMisfits(plan, misfits);
    return box.checked ? left : { ...left, added: [] };
  };
  const update = (): void => {
    const paste = agreed();
    const rows = box.checked ? added.length : 0;
    go.disabled = paste.edits.length + rows === 0;
    go.textContent = verbOf(paste.edits, rows, file);
    notes.replaceChildren(...notesOf(plan, misfits));
    preview.replaceChildren(...previewOf(plan, misfits));
  };
  const submit = (): void => {
    const paste = agreed();
    dialog.close();
    options.agree(paste);
  };
  const past = ` Add ${countText(added.length)} past the last one, at the end of the file`;
  const dialog = openDialog(
    `Paste over ${file}`,
    { class: 'grid-dialog broad', onclose: () => options.closed() },
    makeForm(
      submit,
      notes,
      preview,
      added.length === 0 ? null : make('p', make('label', box, past)),
      make(
        'p.dialog-actions',
        go,
        closer('Cancel'),
        closer('Add as new rows instead…', () => options.addRows()),
      ),
    ),
  );
  const ready = (): void => {
    update();
    if (!go.disabled) go.focus();
  };
  options.misfits([...edits.map(({ values }) => values), ...added]).then(
    (found) => {
      misfits = found;
      ready();
    },
    (error: unknown) => {
      // If the check gets no response, the write itself is checked and refused as a whole.
      ready();
      notes.append(make('p.problem', { role: 'alert' }, `Not checked: ${messageOf(error)}`));
    },
  );
}

function verbOf(edits: readonly RowEdit[], added: number, file: string): string {
  const adding = countText(added);
  if (edits.length === 0) return added === 0 ? 'Replace' : `Add ${adding} to ${file}`;
  const replacing = `Replace ${countText(valueCount(edits), 'value')} in ${countText(edits.length)}`;
  return added === 0 ? replacing : `${replacing} and add ${adding}`;
}

function notesOf(plan: BlockPlan, misfits: readonly Misfit[]): Node[] {
  const { edits, added, locked, surplus, hasHead } = plan;
  const values = valueCount(edits);
  const first =
    values > 0
      ? `Replace ${countText(values, 'value')} in ${countText(edits.length)} of the file.`
      : added.length > 0
        ? 'The cells that are there have these values already.'
        : 'All of these cells have these values already: there is nothing to replace.';
  const texts = [
    first,
    hasHead ? 'The first line names the columns.' : '',
    locked.length > 0
      ? `${locked.join(', ')} cannot be changed: these cells stay as they are.`
      : '',
    surplus > 0
      ? `${countText(surplus, 'column')} more than there are to the right: these cells are left out.`
      : '',
  ];
  const note = make('p', texts.filter((text) => text !== '').join(' '));
  if (misfits.length === 0) return [note];
  const [does, is] = misfits.length === 1 ? ['does', 'is'] : ['do', 'are'];
  const wrong = `${countText(misfits.length, 'value')} ${does} not fit and ${is} left out:`;
  return [note, make('p.problem', wrong), make('ul.fine', misfitLines(plan, misfits))];
}

function misfitLines({ edits, added }: BlockPlan, misfits: readonly Misfit[]): Node[] {
  const lines = misfits.slice(0, MAX_MISFITS).map(({ row, column, message }) => {
    const edit = edits[row];
    const values = edit?.values ?? added[row - edits.length] ?? {};
    const place = edit === undefined ? 'a new row' : `row ${idOf(edit.row)}`;
    const value = shortText(Object.hasOwn(values, column) ? values[column]! : '');
    return `${column} of ${place}: “${value}” (${mismatchReason(message)})`;
  });
  const more = misfits.length - lines.length;
  if (more > 0) lines.push(`and ${countText(more, 'other')}`);
  return lines.map((line) => make('li', line));
}

/** Rows with misfits come first. */
function previewOf({ edits, columns }: BlockPlan, misfits: readonly Misfit[]): Node[] {
  if (edits.length === 0) return [];
  const wrong = new Set(misfits.map(({ row, column }) => `${row} ${column}`));
  const wrongRows = new Set(misfits.map(({ row }) => row));
  const order = [...edits.keys()].sort(
    (a, b) => Number(wrongRows.has(b)) - Number(wrongRows.has(a)) || a - b,
  );
  const shown = order.slice(0, MAX_PREVIEW).sort((a, b) => a - b);
  const changed = new Set(edits.flatMap(({ values }) => Object.keys(values)));
  const names = columns.filter((name) => changed.has(name));
  const body = shown.map((at) => {
    const { row, values } = edits[at]!;
    const cells = names.map((name) => {
      const before = shortText(cellOf(row, name));
      if (!Object.hasOwn(values, name)) return make('td', before);
      const look = { class: wrong.has(`${at} ${name}`) ? 'doubtful' : 'replaced' };
      const after = shortText(values[name]!) || 'blank';
      return make('td', look, make('del', before), ' ', make('ins', after));
    });
    return make('tr', make('th', { scope: 'row' }, String(idOf(row))), cells);
  });
  const isCut = edits.length > shown.length;
  const more = `${shown.length} of ${countText(edits.length)} are shown.`;
  return [
    scrollBox('Values to be replaced', makeTable(['#', ...names], body, { class: 'rows' })),
    ...(isCut ? [make('p.fine', more)] : []),
  ];
}

function shortText(value: CellValue): string {
  const text = lineText(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
