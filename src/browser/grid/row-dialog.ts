import {
  cellOf,
  type CellValue,
  type GridColumn,
  type GridRow,
  idOf,
  isBlank,
  plainNumber,
  plainText,
  shownText,
} from '../../pages/grid/model.ts';
import { mismatchColumn } from '../../tables/edit/mismatch-text.ts';
import { messageOf } from '../shared/ask.ts';
import { closer, make, makeForm, openDialog, submitter } from '../shared/element.ts';
import { fieldFor } from './table/editor.ts';

interface RowDialogOptions {
  readonly columns: readonly GridColumn[];
  readonly title: string;
  readonly row: GridRow | null;
  readonly save: ((values: Record<string, CellValue>) => Promise<void>) | null;
  readonly verb: string;
  /** Asks for confirmation; absent where rows cannot be deleted. */
  remove?(): void;
}

export function openRow({ columns, title, row, save, verb, remove }: RowDialogOptions): void {
  const status = make('p.problem', { role: 'alert', hidden: true });
  const fields = columns
    .filter(({ isWritable }) => save !== null && isWritable)
    .map((column) => {
      const before = row === null ? '' : plainText(cellOf(row, column.name));
      const field = fieldFor(column, before);
      if (column.type === 'string') field.dir = 'auto';
      return { field, before, column };
    });
  const lines = columns.flatMap((column) => {
    const field = fields.find((one) => one.column === column)?.field;
    if (row === null && field === undefined) return [];
    const term = make('dt', column.name, make('small', ` ${column.type}`));
    return [term, make('dd', field ?? readOnly(cellOf(row!, column.name)))];
  });
  const changed = () => fields.filter(({ field, before }) => field.value !== before);
  const say = (text: string): void => {
    status.textContent = text;
    status.hidden = false;
  };
  const submit = (): void => {
    if (save === null) return;
    const values = changed().map(
      ({ field, column }) => [column.name, plainNumber(field.value, column)] as const,
    );
    for (const { field } of fields) field.removeAttribute('aria-invalid');
    button.disabled = true;
    status.hidden = true;
    save(Object.fromEntries(values))
      .then(() => dialog.close())
      .catch((error: unknown) => {
        say(messageOf(error));
        const name = mismatchColumn(messageOf(error));
        const wrong = fields.find(({ column }) => column.name === name)?.field;
        wrong?.setAttribute('aria-invalid', 'true');
        wrong?.focus();
      })
      .finally(() => {
        button.disabled = false;
      });
  };
  const button = submitter(verb);
  const close = closer(save === null ? 'Close' : 'Cancel');
  const actions = [
    save === null ? null : button,
    close,
    remove === undefined ? null : closer('Delete…', remove, { class: 'quiet small danger' }),
  ];
  const dialog = openDialog(
    title,
    { class: 'grid-dialog sheet' },
    makeForm(
      submit,
      { class: 'row-form' },
      make('dl.row-fields', lines),
      status,
      make('p.dialog-actions', actions),
    ),
  );
  // An accidental Esc must not discard input; Cancel does.
  dialog.addEventListener('cancel', (event) => {
    if (changed().length === 0) return;
    event.preventDefault();
    say(`What you typed is not saved yet: ${verb} or Cancel?`);
  });
  if (row !== null && save === null) close.focus();
}

function readOnly(value: CellValue): HTMLElement {
  if (isBlank(value)) return make('span.fine', 'blank');
  return make('span', { dir: 'auto' }, shownText(value));
}

export function rowTitle(row: GridRow, file: string): string {
  return `Row ${idOf(row)} of ${file}`;
}
