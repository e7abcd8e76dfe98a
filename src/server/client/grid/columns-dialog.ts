/**
 * Which columns are shown, in which order, and which stay in sight: a list with boxes, moved by buttons or by dragging.
 */
import { make, makeDialog, quietButton } from './element.ts';
import type { GridColumn } from './model.ts';

/** What was chosen. */
interface ColumnChoice {
  /** Names in order; null: all, in file order. */
  readonly columns: readonly string[] | null;
  readonly pinned: readonly string[];
}

interface Entry {
  readonly column: GridColumn;
  isShown: boolean;
  isPinned: boolean;
}

/** Asks for the columns; `choose` is told when the person applies. */
export function openColumns(
  columns: readonly GridColumn[],
  shown: readonly GridColumn[],
  pinned: readonly string[],
  choose: (choice: ColumnChoice) => void,
): void {
  const isShown = new Set(shown);
  let entries: Entry[] = [...shown, ...columns.filter((column) => !isShown.has(column))].map(
    (column) => ({
      column,
      isShown: isShown.has(column),
      isPinned: pinned.includes(column.name),
    }),
  );
  const list = make('ol', { class: 'column-list' });
  const find = make('input', {
    type: 'search',
    placeholder: 'Find a column',
    'aria-label': 'Find a column',
  });
  let dragged: Entry | null = null;
  const move = (entry: Entry, to: number): void => {
    entries = entries.filter((one) => one !== entry);
    entries.splice(Math.max(0, to), 0, entry);
    draw();
  };
  const line = (entry: Entry): HTMLElement => {
    const { column } = entry;
    const box = make('input', { type: 'checkbox', checked: entry.isShown });
    box.addEventListener('change', () => {
      entry.isShown = box.checked;
    });
    const step = (by: -1 | 1, sign: string, label: string): HTMLElement =>
      quietButton(
        sign,
        () => {
          move(entry, entries.indexOf(entry) + by);
          list
            .querySelector<HTMLElement>(
              `[data-step="${by}"][data-name="${CSS.escape(column.name)}"]`,
            )
            ?.focus();
        },
        {
          'aria-label': `Move ${column.name} ${label}`,
          'data-step': by,
          'data-name': column.name,
        },
      );
    const pin = quietButton('Pin', () => {
      entry.isPinned = !entry.isPinned;
      pin.setAttribute('aria-pressed', String(entry.isPinned));
    });
    pin.setAttribute('aria-pressed', String(entry.isPinned));
    pin.setAttribute('aria-label', `Pin ${column.name}`);
    return make(
      'li',
      {
        draggable: 'true',
        ondragstart: () => {
          dragged = entry;
        },
        ondragover: (event: DragEvent) => event.preventDefault(),
        ondrop: (event: DragEvent) => {
          event.preventDefault();
          if (dragged !== null && dragged !== entry) move(dragged, entries.indexOf(entry));
        },
      },
      make('label', {}, box, make('span', {}, column.name), make('small', {}, column.type)),
      pin,
      step(-1, '↑', 'up'),
      step(1, '↓', 'down'),
    );
  };
  const draw = (): void => {
    const wanted = find.value.trim().toLowerCase();
    const found = entries.filter(({ column }) => column.name.toLowerCase().includes(wanted));
    list.replaceChildren(...found.map(line));
  };
  const setAll = (isOn: boolean): void => {
    for (const entry of entries) entry.isShown = isOn;
    draw();
  };
  const form = make(
    'form',
    {},
    find,
    list,
    make(
      'p',
      { class: 'dialog-actions' },
      make('button', { type: 'submit', class: 'small' }, 'Apply'),
      quietButton('All', () => setAll(true)),
      quietButton('None', () => setAll(false)),
      quietButton('As in the file', () => {
        dialog.close();
        choose({ columns: null, pinned: [] });
      }),
      quietButton('Cancel', () => dialog.close()),
    ),
  );
  const dialog = makeDialog('Columns', form);
  find.addEventListener('input', draw);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const names = entries.filter((entry) => entry.isShown).map(({ column }) => column.name);
    if (names.length === 0) return;
    dialog.close();
    const isWhole =
      names.length === columns.length && names.every((name, at) => name === columns[at]!.name);
    const kept = entries.filter((entry) => entry.isShown && entry.isPinned);
    choose({ columns: isWhole ? null : names, pinned: kept.map(({ column }) => column.name) });
  });
  draw();
  dialog.showModal();
}
