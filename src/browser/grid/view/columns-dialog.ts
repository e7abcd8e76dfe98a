import { make, makeDialog, quietButton } from '../element.ts';
import type { GridColumn } from '../../../pages/grid/model.ts';

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
  new ColumnsDialog(columns, entriesOf(columns, shown, pinned), choose).open();
}

function entriesOf(
  columns: readonly GridColumn[],
  shown: readonly GridColumn[],
  pinned: readonly string[],
): Entry[] {
  const isShown = new Set(shown);
  return [...shown, ...columns.filter((column) => !isShown.has(column))].map((column) => ({
    column,
    isShown: isShown.has(column),
    isPinned: pinned.includes(column.name),
  }));
}

class ColumnsDialog {
  readonly #columns: readonly GridColumn[];
  readonly #choose: (choice: ColumnChoice) => void;
  readonly #list = make('ol', { class: 'column-list' });
  readonly #find = make('input', {
    type: 'search',
    placeholder: 'Find a column',
    'aria-label': 'Find a column',
  });
  readonly #apply = make('button', { type: 'submit', class: 'small' }, 'Apply');
  readonly #dialog: HTMLDialogElement;
  #entries: readonly Entry[];
  #dragged: Entry | null = null;

  constructor(
    columns: readonly GridColumn[],
    entries: readonly Entry[],
    choose: (choice: ColumnChoice) => void,
  ) {
    this.#columns = columns;
    this.#entries = entries;
    this.#choose = choose;
    const form = make('form', {}, this.#find, this.#list, this.#actions());
    this.#dialog = makeDialog('Columns', form);
    this.#find.addEventListener('input', () => this.#draw());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#end(this.#choice());
    });
  }

  open(): void {
    this.#draw();
    this.#dialog.showModal();
  }

  #actions(): HTMLElement {
    return make(
      'p',
      { class: 'dialog-actions' },
      this.#apply,
      quietButton('All', () => this.#showAll(true)),
      quietButton('None', () => this.#showAll(false)),
      quietButton('As in the file', () => this.#end({ columns: null, pinned: [] })),
      quietButton('Cancel', () => this.#dialog.close()),
    );
  }

  #end(choice: ColumnChoice): void {
    this.#dialog.close();
    this.#choose(choice);
  }

  #choice(): ColumnChoice {
    const shown = this.#entries.filter(({ isShown }) => isShown);
    const names = shown.map(({ column }) => column.name);
    const isWhole =
      names.length === this.#columns.length &&
      names.every((name, at) => name === this.#columns[at]!.name);
    const pinned = shown.filter(({ isPinned }) => isPinned).map(({ column }) => column.name);
    return { columns: isWhole ? null : names, pinned };
  }

  #showAll(isShown: boolean): void {
    for (const entry of this.#entries) entry.isShown = isShown;
    this.#draw();
  }

  #move(entry: Entry, to: number): void {
    const others = this.#entries.filter((one) => one !== entry);
    this.#entries = others.toSpliced(Math.max(0, to), 0, entry);
    this.#draw();
  }

  #draw(): void {
    const wanted = this.#find.value.trim().toLowerCase();
    const found = this.#entries.filter(({ column }) => column.name.toLowerCase().includes(wanted));
    this.#list.replaceChildren(...found.map((entry) => this.#line(entry)));
    this.#drawApply();
  }

  /** At least one column must be shown. */
  #drawApply(): void {
    const isNone = this.#entries.every(({ isShown }) => !isShown);
    this.#apply.disabled = isNone;
    this.#apply.title = isNone ? 'Choose at least one column' : '';
  }

  #line(entry: Entry): HTMLElement {
    const { name, type } = entry.column;
    return make(
      'li',
      {
        draggable: 'true',
        ondragstart: () => {
          this.#dragged = entry;
        },
        ondragover: (event: DragEvent) => event.preventDefault(),
        ondrop: (event: DragEvent) => {
          event.preventDefault();
          const dragged = this.#dragged;
          if (dragged !== null && dragged !== entry)
            this.#move(dragged, this.#entries.indexOf(entry));
        },
      },
      make('label', {}, this.#box(entry), make('span', {}, name), make('small', {}, type)),
      pinOf(entry),
      this.#step(entry, -1),
      this.#step(entry, 1),
    );
  }

  #box(entry: Entry): HTMLInputElement {
    const box = make('input', { type: 'checkbox', checked: entry.isShown });
    box.addEventListener('change', () => {
      entry.isShown = box.checked;
      this.#drawApply();
    });
    return box;
  }

  #step(entry: Entry, by: -1 | 1): HTMLElement {
    const { name } = entry.column;
    const move = (): void => {
      this.#move(entry, this.#entries.indexOf(entry) + by);
      const again = `[data-step="${by}"][data-name="${CSS.escape(name)}"]`;
      this.#list.querySelector<HTMLElement>(again)?.focus();
    };
    return quietButton(by < 0 ? '↑' : '↓', move, {
      'aria-label': `Move ${name} ${by < 0 ? 'up' : 'down'}`,
      'data-step': by,
      'data-name': name,
    });
  }
}

function pinOf(entry: Entry): HTMLElement {
  const pin = quietButton('Pin', () => {
    entry.isPinned = !entry.isPinned;
    pin.setAttribute('aria-pressed', String(entry.isPinned));
  });
  pin.setAttribute('aria-pressed', String(entry.isPinned));
  pin.setAttribute('aria-label', `Pin ${entry.column.name}`);
  return pin;
}
