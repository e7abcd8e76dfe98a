/** Preview of a paste over cells: old and new values, misfits, rows beyond the last one. */
import { type BlockPlan, valueCount, withoutMisfits } from './block-plan.ts';
import { mismatchReason } from '../../../tables/edit/mismatch-text.ts';
import { make, makeDialog, quietButton } from '../element.ts';
import { cellOf, type CellValue, countText, idOf, lineText } from '../../../pages/grid/model.ts';
import type { Misfit, RowEdit, Values } from './row-edits.ts';

const MAX_PREVIEW = 8;
const MAX_MISFITS = 5;
const MAX_TEXT = 60;

interface AgreedPaste {
  readonly edits: readonly RowEdit[];
  readonly added: readonly Values[];
}

interface PasteOverOptions {
  readonly file: string;
  readonly plan: BlockPlan;
  readonly isFileOrder: boolean;
  misfits(rows: readonly Values[]): Promise<readonly Misfit[]>;
  agree(paste: AgreedPaste): void;
  addRows(): void;
  closed(): void;
}

/** Misfits are left out of what is agreed to. */
export function openPasteOver(options: PasteOverOptions): void {
  const { file, plan, isFileOrder } = options;
  const { edits, added } = plan;
  let misfits: readonly Misfit[] = [];
  const notes = make('div', { 'aria-live': 'polite' });
  const preview = make('div', { class: 'paste-preview' });
  const box = make('input', { type: 'checkbox', checked: isFileOrder });
  const go = make('button', { type: 'submit', class: 'small', disabled: true }, 'Checking…');
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
  box.addEventListener('change', update);
  const form = make(
    'form',
    {},
    notes,
    preview,
    added.length === 0
      ? null
      : make(
          'p',
          {},
          make(
            'label',
            {},
            box,
            ` Add ${countText(added.length, 'row')} past the last one, at the end of the file`,
          ),
        ),
    make(
      'p',
      { class: 'dialog-actions' },
      go,
      quietButton('Cancel', () => dialog.close()),
      quietButton('Add as new rows instead…', () => {
        dialog.close();
        options.addRows();
      }),
    ),
  );
  const dialog = makeDialog(`Paste over ${file}`, form);
  dialog.classList.add('broad');
  dialog.addEventListener('close', () => options.closed());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const paste = agreed();
    dialog.close();
    options.agree(paste);
  });
  notes.replaceChildren(make('p', { class: 'fine' }, 'Checking whether the values fit…'));
  preview.replaceChildren(...previewOf(plan, []));
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
      const text = error instanceof Error ? error.message : String(error);
      notes.append(make('p', { class: 'problem', role: 'alert' }, `Not checked: ${text}`));
    },
  );
  dialog.showModal();
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
  const names = locked.join(', ');
  const texts = [
    hasHead ? 'The first line names the columns.' : '',
    locked.length > 0 ? `${names} cannot be changed: these cells stay as they are.` : '',
    surplus > 0
      ? `${countText(surplus, 'column')} more than there are to the right: these cells are left out.`
      : '',
  ].filter((text) => text !== '');
  const isOne = misfits.length === 1;
  const wrong =
    misfits.length === 0
      ? []
      : [
          make(
            'p',
            { class: 'problem' },
            `${countText(misfits.length, 'value')} ${isOne ? 'does' : 'do'} not fit and ${isOne ? 'is' : 'are'} left out:`,
          ),
          make('ul', { class: 'fine' }, ...misfitLines(plan, misfits)),
        ];
  return [make('p', {}, [first, ...texts].join(' ')), ...wrong];
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
  return lines.map((line) => make('li', {}, line));
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
  const head = ['#', ...names].map((name) => make('th', { scope: 'col' }, name));
  const body = shown.map((at) => {
    const { row, values } = edits[at]!;
    const cells = names.map((name) => {
      if (!Object.hasOwn(values, name)) return make('td', {}, shortText(cellOf(row, name)));
      const isWrong = wrong.has(`${at} ${name}`);
      return make(
        'td',
        { class: isWrong ? 'doubtful' : 'replaced' },
        make('del', {}, shortText(cellOf(row, name))),
        ' ',
        make('ins', {}, shortText(values[name]!) || 'blank'),
      );
    });
    return make('tr', {}, make('th', { scope: 'row' }, String(idOf(row))), ...cells);
  });
  const more =
    edits.length > shown.length
      ? make('p', { class: 'fine' }, `${shown.length} of ${countText(edits.length)} are shown.`)
      : null;
  return [
    make(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Values to be replaced' },
      make(
        'table',
        { class: 'rows' },
        make('thead', {}, make('tr', {}, ...head)),
        make('tbody', {}, ...body),
      ),
    ),
    ...(more === null ? [] : [more]),
  ];
}

function shortText(value: CellValue): string {
  const text = lineText(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
