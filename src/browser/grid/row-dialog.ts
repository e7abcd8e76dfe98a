/** One row as a form: read whole texts, edit, or add a row. */
import { fieldFor } from './table/editor.ts';
import { make, makeDialog, quietButton } from './element.ts';
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
import { ChangeRefused, messageOf } from './writing/row-requests.ts';

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
  const status = make('p', { class: 'problem', role: 'alert' });
  status.hidden = true;
  const fields = new Map<
    string,
    { field: HTMLElement & { value: string }; before: string; column: GridColumn }
  >();
  const list = make('dl', { class: 'row-fields' });
  for (const column of columns) {
    const value = row === null ? null : cellOf(row, column.name);
    const isEdited = save !== null && column.isWritable;
    if (row === null && !isEdited) continue;
    const before = plainText(value);
    let shown: Node;
    if (isEdited) {
      const field = fieldFor(column, before);
      if (column.type === 'string') field.dir = 'auto';
      fields.set(column.name, { field, before, column });
      shown = field;
    } else if (isBlank(value)) shown = make('span', { class: 'fine' }, 'blank');
    else shown = make('span', { dir: 'auto' }, shownText(value));
    list.append(
      make('dt', {}, column.name, make('small', {}, ` ${column.type}`)),
      make('dd', {}, shown),
    );
  }
  const close = quietButton(save === null ? 'Close' : 'Cancel', () => dialog.close());
  const button = save === null ? null : make('button', { type: 'submit', class: 'small' }, verb);
  const form = make(
    'form',
    { class: 'row-form' },
    list,
    status,
    make(
      'p',
      { class: 'dialog-actions' },
      button,
      close,
      remove === undefined
        ? null
        : quietButton(
            'Delete…',
            () => {
              dialog.close();
              remove();
            },
            { class: 'quiet small danger' },
          ),
    ),
  );
  const dialog = makeDialog(title, form);
  dialog.classList.add('sheet');
  const isChanged = (): boolean =>
    [...fields.values()].some(({ field, before }) => field.value !== before);
  // An accidental Esc must not discard input; Cancel does.
  dialog.addEventListener('cancel', (event) => {
    if (!isChanged()) return;
    event.preventDefault();
    status.textContent = `What you typed is not saved yet: ${verb} or Cancel?`;
    status.hidden = false;
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (save === null || button === null) return;
    const changed = [...fields].filter(([, { field, before }]) => field.value !== before);
    const values = Object.fromEntries(
      changed.map(([name, { field, column }]) => [name, plainNumber(field.value, column)]),
    );
    for (const { field } of fields.values()) field.removeAttribute('aria-invalid');
    button.disabled = true;
    status.hidden = true;
    save(values)
      .then(() => dialog.close())
      .catch((error: unknown) => {
        status.textContent = messageOf(error);
        status.hidden = false;
        const name = error instanceof ChangeRefused ? error.column : null;
        const wrong = name === null ? undefined : fields.get(name)?.field;
        wrong?.setAttribute('aria-invalid', 'true');
        wrong?.focus();
      })
      .finally(() => {
        button.disabled = false;
      });
  });
  dialog.showModal();
  if (row !== null && save === null) close.focus();
}

export function rowTitle(row: GridRow, file: string): string {
  return `Row ${idOf(row)} of ${file}`;
}
