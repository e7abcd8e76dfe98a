/**
 * A click on a value keeps only events with it, or excludes them. Without script the value is a
 * link that keeps.
 */
import { copied } from '../shared/copying.ts';
import type { Narrow } from './terms.ts';
import { make } from '../grid/element.ts';

export function startValues(explorer: HTMLElement, narrow: Narrow): void {
  explorer.querySelector('#result')?.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a.value') : null;
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
    if (!(link instanceof HTMLAnchorElement) || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    openMenu(link, narrow);
  });
}

function openMenu(link: HTMLAnchorElement, narrow: Narrow): void {
  const { field = '' } = link.dataset;
  const value = link.textContent ?? '';
  const menu = make('div', {
    class: 'value-menu',
    popover: 'auto',
    role: 'menu',
    'aria-label': `${field} ${value}`,
  });
  const entry = (label: string, run: () => void): HTMLElement =>
    make('button', { type: 'button', class: 'plain', role: 'menuitem', onclick: run }, label);
  menu.append(
    entry('Only events with it', () => narrow(field, value, false)),
    entry('No events with it', () => narrow(field, value, true)),
    entry('Copy the value', () => void copied(value).then(() => menu.hidePopover())),
  );
  menu.addEventListener('toggle', (event) => {
    if ((event as ToggleEvent).newState !== 'closed') return;
    menu.remove();
    // Do not steal the focus if it has moved on.
    if (document.activeElement === document.body) link.focus();
  });
  menu.addEventListener('keydown', (event) => step(menu, event));
  document.body.append(menu);
  menu.showPopover();
  place(menu, link);
  menu.querySelector('button')?.focus();
}

function place(menu: HTMLElement, link: HTMLElement): void {
  const { left, bottom, top } = link.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const isBelow = bottom + height < innerHeight;
  menu.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, isBelow ? bottom + 4 : top - height - 4)}px`;
}

function step(menu: HTMLElement, event: KeyboardEvent): void {
  const move = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (move === 0) return;
  event.preventDefault();
  const entries = [...menu.querySelectorAll('button')];
  const at = entries.indexOf(document.activeElement as HTMLButtonElement);
  entries.at((at + move + entries.length) % entries.length)?.focus();
}
