import { chosenIn, memberFor, operandCount, operatorsOf } from '../../../pages/grid/conditions.ts';
import { type GridColumn, plainNumber } from '../../../pages/grid/model.ts';
import { closer, make, makeForm, makeSelect, openMenu, submitter } from '../../shared/element.ts';

interface ColumnActions {
  sort(isDescending: boolean, isMore: boolean): void;
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
  const item = (label: string, action: () => void): HTMLElement =>
    closer(label, action, { class: 'plain small' });
  const menu = openMenu(
    anchor,
    options.closed,
    { class: 'column-menu of-column', 'aria-label': `Column ${column.name}` },
    filterForm(options, () => menu.hidePopover()),
    make(
      'div.menu-items',
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
}

function filterForm({ column, member, actions }: MenuOptions, close: () => void): HTMLElement {
  const chosen = member === undefined ? null : chosenIn(member);
  const choices = operatorsOf(column.type);
  const known = choices.some(([operator]) => operator === chosen?.operator);
  const operator = known ? chosen!.operator : choices[0]![0];
  const fields = ['Value', 'And'].map((label, index) =>
    make('input', {
      type: 'text',
      'aria-label': label,
      autocomplete: 'off',
      spellcheck: 'false',
      value: known ? (chosen?.texts[index] ?? '') : '',
    }),
  );
  const showFields = (shown: string): void => {
    const count = operandCount(shown);
    fields.forEach((field, index) => {
      field.hidden = index >= count;
      field.placeholder = count === 2 ? (index === 0 ? 'from' : 'to') : 'value';
    });
  };
  showFields(operator);
  const select = makeSelect(`Filter ${column.name}`, choices, operator, showFields);
  const submit = (): void => {
    close();
    const texts = fields.map((field) => plainNumber(field.value.trim(), column));
    actions.filter(memberFor(select.value, texts));
  };
  const remove = member === undefined ? null : closer('Remove', () => actions.filter(null));
  const buttons = make('p.dialog-actions', submitter('Filter'), remove);
  return makeForm(submit, { class: 'filter-form' }, select, fields, buttons);
}
