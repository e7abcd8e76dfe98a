import type { GridColumn } from '../../../pages/grid/model.ts';
import {
  closer,
  make,
  makeForm,
  openDialog,
  quietButton,
  submitter,
} from '../../shared/element.ts';

interface ColumnChoice {
  readonly columns: readonly string[] | null;
  readonly pinned: readonly string[];
}

interface Entry {
  readonly column: GridColumn;
  isShown: boolean;
  isPinned: boolean;
}

export function openColumns(
  columns: readonly GridColumn[],
  shown: readonly GridColumn[],
  pinned: readonly string[],
  choose: (choice: ColumnChoice) => void,
): void {
  const others = columns.filter((column) => !shown.includes(column));
  let entries: readonly Entry[] = [...shown, ...others].map((column, at) => ({
    column,
    isShown: at < shown.length,
    isPinned: pinned.includes(column.name),
  }));
  let dragged: Entry | null = null;
  const find = make('input', {
    type: 'search',
    placeholder: 'Find a column',
    'aria-label': 'Find a column',
    oninput: () => draw(),
  });
  const list = make('ol.column-list');
  const apply = submitter('Apply');

  const draw = (): void => {
    const wanted = find.value.trim().toLowerCase();
    const found = entries.filter(({ column }) => column.name.toLowerCase().includes(wanted));
    list.replaceChildren(...found.map(lineOf));
    drawApply();
  };
  /** At least one column must be shown. */
  const drawApply = (): void => {
    apply.disabled = entries.every(({ isShown }) => !isShown);
    apply.title = apply.disabled ? 'Choose at least one column' : '';
  };
  const showAll = (isShown: boolean): void => {
    for (const entry of entries) entry.isShown = isShown;
    draw();
  };
  const move = (entry: Entry, to: number): void => {
    const rest = entries.filter((one) => one !== entry);
    entries = rest.toSpliced(Math.max(0, to), 0, entry);
    draw();
  };
  const lineOf = (entry: Entry): HTMLElement => {
    const { name, type } = entry.column;
    const box = make('input', {
      type: 'checkbox',
      checked: entry.isShown,
      onchange: () => {
        entry.isShown = box.checked;
        drawApply();
      },
    });
    const step = (by: -1 | 1, sign: string, way: string): HTMLElement => {
      const press = (): void => {
        move(entry, entries.indexOf(entry) + by);
        list.querySelector<HTMLElement>(`[aria-label="${CSS.escape(label)}"]`)?.focus();
      };
      const label = `Move ${name} ${way}`;
      return quietButton(sign, press, { 'aria-label': label });
    };
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
      make('label', box, make('span', name), make('small', type)),
      pinOf(entry),
      step(-1, '↑', 'up'),
      step(1, '↓', 'down'),
    );
  };
  const choice = (): ColumnChoice => {
    const chosen = entries.filter(({ isShown }) => isShown);
    const names = chosen.map(({ column }) => column.name);
    const isWhole =
      names.length === columns.length && names.every((name, at) => name === columns[at]!.name);
    const kept = chosen.filter(({ isPinned }) => isPinned).map(({ column }) => column.name);
    return { columns: isWhole ? null : names, pinned: kept };
  };
  const submit = (): void => {
    dialog.close();
    choose(choice());
  };
  draw();
  const actions = make(
    'p.dialog-actions',
    apply,
    quietButton('All', () => showAll(true)),
    quietButton('None', () => showAll(false)),
    closer('As in the file', () => choose({ columns: null, pinned: [] })),
    closer('Cancel'),
  );
  const dialog = openDialog('Columns', makeForm(submit, find, list, actions));
}

function pinOf(entry: Entry): HTMLElement {
  const draw = (): void => pin.setAttribute('aria-pressed', String(entry.isPinned));
  const press = (): void => {
    entry.isPinned = !entry.isPinned;
    draw();
  };
  const pin = quietButton('Pin', press, { 'aria-label': `Pin ${entry.column.name}` });
  draw();
  return pin;
}
