/** Terms that narrow a query: from a click on a value, added to its first stage. */
import { closestOf, make, openMenu } from '../shared/element.ts';
import { isPlainClick } from '../shared/leaving.ts';

export type Narrow = (name: string, value: string, isExcluded: boolean) => void;

export function fieldTerm(name: string, value: string, isExcluded = false): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : quoted(name);
  return `${isExcluded ? 'NOT ' : ''}${field}=${quoted(value)}`;
}

/** Quoted only where the language needs it. */
export function quoted(text: string): string {
  const isPlain = /^[\w@.:+-]+$/.test(text) && !/^(?:AND|OR|NOT|IN)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** Appends terms to `first`, the first stage of the query, and searches. */
export function addTerms(form: HTMLFormElement, first: string, terms: string): void {
  const area = form.querySelector<HTMLTextAreaElement>('textarea')!;
  const isBlank = area.defaultValue.trim() === '';
  // If the user has edited the beginning meanwhile, narrow the search that is shown.
  const typed = area.value.includes(first) ? area.value : area.defaultValue;
  area.value = isBlank
    ? `${terms} ${area.value}`.trim()
    : typed.replace(first, () => `${first} ${terms}`);
  form.requestSubmit();
}

/** Searches another query in the same span of time. */
export function ask(form: HTMLFormElement, query: string): void {
  form.querySelector<HTMLTextAreaElement>('textarea')!.value = query;
  form.requestSubmit();
}

/** How a value of a field reads, and is written in a term. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Values of the result open a menu. Without script they are links that keep events with them. */
export function startValues(explorer: HTMLElement, narrow: Narrow): void {
  explorer.querySelector('#found')?.addEventListener('click', (event) => {
    const link = closestOf<HTMLAnchorElement>(event, 'a.value');
    if (link === null || !isPlainClick(event as MouseEvent)) return;
    event.preventDefault();
    openValue(link, narrow);
  });
}

function openValue(link: HTMLAnchorElement, narrow: Narrow): void {
  const { field = '' } = link.dataset;
  const value = link.textContent ?? '';
  const entry = (label: string, what: Record<string, string | (() => void)>): HTMLElement =>
    make('button.plain', { type: 'button', role: 'menuitem', ...what }, label);
  const menu = openMenu(
    link,
    () => link.focus(),
    { class: 'value-menu', role: 'menu', 'aria-label': `${field} ${value}` },
    entry('Only events with it', { onclick: () => narrow(field, value, false) }),
    entry('No events with it', { onclick: () => narrow(field, value, true) }),
    entry('Copy the value', { 'data-copy': 'text', 'data-text': value }),
  );
  menu.addEventListener('keydown', (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const entries = [...menu.querySelectorAll('button')];
    const at = entries.indexOf(document.activeElement as HTMLButtonElement);
    entries.at((at + move + entries.length) % entries.length)?.focus();
  });
}
