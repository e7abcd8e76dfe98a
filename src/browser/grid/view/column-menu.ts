import { chosenIn, memberFor, operandCount, operatorsOf } from '../../../pages/grid/conditions.ts';
import { make, makeSelect, quietButton } from '../element.ts';
import { type GridColumn, plainNumber } from '../../../pages/grid/model.ts';

interface ColumnActions {
  sort(isDescending: boolean, isMore: boolean): void;
  /** Null removes the condition. */
  filter(member: unknown): void;
  pin(): void;
  move(by: -1 | 1): void;
  hide(): void;
  values(): void;
}

interface MenuOptions {
  readonly column: GridColumn;
  readonly member: unknown;
  readonly isPinned: boolean;
  readonly anchor: HTMLElement;
  readonly actions: ColumnActions;
  closed(): void;
}

export function openColumnMenu(options: MenuOptions): void {
  const { column, anchor, actions, isPinned } = options;
  document.querySelector('.column-menu.of-column')?.remove();
  const menu = make('div', {
    class: 'column-menu of-column',
    popover: 'auto',
    role: 'dialog',
    'aria-label': `Column ${column.name}`,
  });
  const act = (action: () => void) => (): void => {
    menu.hidePopover();
    action();
  };
  const item = (label: string, action: () => void): HTMLElement =>
    quietButton(label, act(action), { class: 'plain small' });
  menu.append(
    filterForm(options, () => menu.hidePopover()),
    make(
      'div',
      { class: 'menu-items' },
      item('Sort upwards ↑', () => actions.sort(false, false)),
      item('Sort downwards ↓', () => actions.sort(true, false)),
      item('Then sort by this ↑', () => actions.sort(false, true)),
      item('Then sort by this ↓', () => actions.sort(true, true)),
      item('Values of this column', actions.values),
      item(isPinned ? 'Unpin' : 'Pin to the left', actions.pin),
      item('Move left', () => actions.move(-1)),
      item('Move right', () => actions.move(1)),
      item('Hide', actions.hide),
    ),
  );
  menu.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    menu.remove();
    // Do not steal the focus if it has moved on.
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === anchor) options.closed();
  });
  document.body.append(menu);
  menu.showPopover();
  placeBelow(menu, anchor);
  menu.querySelector<HTMLElement>('select')?.focus();
}

function filterForm({ column, member, actions }: MenuOptions, close: () => void): HTMLElement {
  const chosen = member === undefined ? null : chosenIn(member);
  const choices = operatorsOf(column.type);
  const known = choices.some(([operator]) => operator === chosen?.operator);
  const operator = known ? chosen!.operator : choices[0]![0];
  const select = makeSelect(`Filter ${column.name}`, choices, operator, () => showFields());
  const fields = [0, 1].map((index) => {
    const field = make('input', {
      type: 'text',
      'aria-label': index === 0 ? 'Value' : 'And',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    field.value = known ? (chosen?.texts[index] ?? '') : '';
    return field;
  });
  const showFields = (): void => {
    const count = operandCount(select.value);
    fields.forEach((field, index) => {
      field.hidden = index >= count;
      field.placeholder = count === 2 ? (index === 0 ? 'from' : 'to') : 'value';
    });
  };
  showFields();
  const form = make(
    'form',
    { class: 'filter-form' },
    select,
    ...fields,
    make(
      'p',
      { class: 'dialog-actions' },
      make('button', { type: 'submit', class: 'small' }, 'Filter'),
      member === undefined
        ? null
        : quietButton('Remove', () => {
            close();
            actions.filter(null);
          }),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    close();
    actions.filter(
      memberFor(
        select.value,
        fields.map((field) => plainNumber(field.value.trim(), column)),
      ),
    );
  });
  return form;
}

export function placeBelow(popover: HTMLElement, anchor: HTMLElement): void {
  const { left, bottom } = anchor.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const x = Math.max(8, Math.min(left, innerWidth - width - 8));
  const y = Math.max(8, Math.min(bottom + 4, innerHeight - height - 8));
  popover.style.left = `${x}px`;
  popover.style.top = `${y}px`;
}
