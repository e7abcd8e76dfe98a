/** DOM without markup: file content becomes text or attributes, never HTML. */
import { onSite } from './site.ts';

type Attribute = string | number | boolean | null | undefined | ((event: never) => void);
type Attributes = Readonly<Record<string, Attribute>>;
type Part = Attributes | Node | string | null | undefined | readonly Part[];
type Tags = HTMLElementTagNameMap;
type Named<Tag extends keyof Tags> = Tag | `${Tag}.${string}`;

/**
 * An element by tag and classes (`p.fine`), with attributes and children in any order. `on…`
 * functions become listeners, `true` an empty attribute; what is false or null is left out.
 */
export function make<Tag extends keyof Tags>(name: Named<Tag>, ...parts: Part[]): Tags[Tag] {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag as Tag);
  if (classes.length > 0) element.className = classes.join(' ');
  addTo(element, parts);
  return element;
}

function addTo(element: Element, parts: readonly Part[]): void {
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) element.append(part);
    else if (Array.isArray(part)) addTo(element, part);
    else for (const [name, value] of Object.entries(part ?? {})) set(element, name, value);
  }
}

function set(element: Element, name: string, value: Attribute): void {
  if (typeof value === 'function') {
    element.addEventListener(name.slice(2), value as (event: Event) => void);
  } else if (value !== null && value !== undefined && value !== false) {
    const text = value === true ? '' : String(value);
    element.setAttribute(name, name === 'href' || name === 'src' ? onSite(text) : text);
  }
}

export function quietButton(
  label: string,
  onclick: (event: MouseEvent) => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  return make('button.quiet.small', { type: 'button', onclick, ...attributes }, label);
}

/** A button that first closes the dialog or menu it is in. */
export function closer(
  label: string,
  run: () => void = () => {},
  attributes: Attributes = {},
): HTMLButtonElement {
  const press = (): void => {
    button.closest('dialog')?.close();
    button.closest<HTMLElement>('[popover]')?.hidePopover();
    run();
  };
  const button = quietButton(label, press, attributes);
  return button;
}

export function submitter(label: string, attributes: Attributes = {}): HTMLButtonElement {
  return make('button.small', { type: 'submit', ...attributes }, label);
}

/** The element that an event is about, by selector. */
export function closestOf<E extends HTMLElement>({ target }: Event, selector: string): E | null {
  return target instanceof Element ? target.closest<E>(selector) : null;
}

/** A form whose submission is for this page alone. */
export function makeForm(submit: () => void, ...parts: Part[]): HTMLFormElement {
  const onsubmit = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  return make('form', { onsubmit }, ...parts);
}

/** Removed from the page when closed. */
export function openDialog(title: string, ...parts: Part[]): HTMLDialogElement {
  const heading = make('h2', { id: `dialog-${++dialogs}` }, title);
  const dialog = make('dialog.grid-dialog', { 'aria-labelledby': heading.id }, heading, ...parts);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

let dialogs = 0;

/** A menu beside `anchor`; `left` is called when it has closed and the focus has not moved on. */
export function openMenu(anchor: HTMLElement, left: () => void, ...parts: Part[]): HTMLElement {
  const menu = make('div', { popover: 'auto', role: 'dialog' }, ...parts);
  menu.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    menu.remove();
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === anchor) left();
  });
  document.body.append(menu);
  menu.showPopover();
  const { left: x, top, bottom } = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const isBelow = bottom + 4 + height <= innerHeight - 8;
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, isBelow ? bottom + 4 : top - height - 4)}px`;
  menu.querySelector<HTMLElement>('select, button, a')?.focus();
  return menu;
}

export function makeSelect(
  label: string,
  options: readonly (readonly [value: string, label: string])[],
  selected: string,
  onchange?: (value: string) => void,
): HTMLSelectElement {
  const choices = options.map(([value, text]) =>
    make('option', { value, selected: value === selected }, text),
  );
  const select = make('select', { 'aria-label': label }, choices);
  if (onchange) select.addEventListener('change', () => onchange(select.value));
  return select;
}

/** Texts of `head` become column heads. */
export function makeTable(
  head: readonly (string | HTMLElement)[],
  rows: readonly HTMLElement[],
  attributes: Attributes = {},
): HTMLTableElement {
  const heads = head.map((one) =>
    typeof one === 'string' ? make('th', { scope: 'col' }, one) : one,
  );
  return make('table', attributes, make('thead', make('tr', heads)), make('tbody', rows));
}

/** Scrolls what does not fit, also by keys. */
export function scrollBox(label: string, ...parts: Part[]): HTMLElement {
  return make('div.scroll', { tabindex: 0, role: 'region', 'aria-label': label }, ...parts);
}

/** Calls `run` when `ms` have passed since the last call. */
export function debounced(ms: number, run: () => void): (() => void) & { cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => clearTimeout(timer);
  const start = (): void => {
    cancel();
    timer = setTimeout(run, ms);
  };
  return Object.assign(start, { cancel });
}
