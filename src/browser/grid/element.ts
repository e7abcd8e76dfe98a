/** DOM without markup: file content becomes text or attributes, never HTML. */

type Attribute = string | number | boolean | null | undefined | ((event: never) => void);

/**
 * `on…` functions become listeners, `true` an empty attribute; false and null attributes and null
 * children are left out.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value as (event: Event) => void);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function quietButton(
  label: string,
  onclick: (event: MouseEvent) => void,
  attributes: Readonly<Record<string, Attribute>> = {},
): HTMLButtonElement {
  return make('button', { type: 'button', class: 'quiet small', onclick, ...attributes }, label);
}

/** Not yet shown; removed from the page when closed. */
export function makeDialog(
  title: string,
  ...children: (Node | string | null)[]
): HTMLDialogElement {
  const heading = make('h2', { id: `dialog-${++dialogs}` }, title);
  const dialog = make(
    'dialog',
    { class: 'grid-dialog', 'aria-labelledby': heading.id },
    heading,
    ...children,
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  return dialog;
}

let dialogs = 0;

export function makeSelect(
  label: string,
  options: readonly (readonly [value: string, label: string])[],
  selected: string,
  onchange?: (value: string) => void,
): HTMLSelectElement {
  const select = make('select', { 'aria-label': label });
  for (const [value, text] of options) {
    select.append(make('option', { value, selected: value === selected }, text));
  }
  if (onchange) select.addEventListener('change', () => onchange(select.value));
  return select;
}
