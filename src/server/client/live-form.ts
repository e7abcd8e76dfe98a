/**
 * Forms that show their answer while one types: `<form method="get" data-live="tree count">` asks for the page the form
 * leads to and takes over the named elements of it. What it shows stands in the address. Without script the form is sent.
 */
import { localise } from './times.ts';

/** Pause after the last key; about as long as a fast typist needs for the next one. */
const PAUSE_MS = 150;
/** After so long without an answer the page says that it is waiting for one. */
const PATIENCE_MS = 500;

/** Makes every such form of the page live. `svc:live` on document tells that elements were replaced. */
export function startLiveForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) follow(form);
}

/** Takes over elements of another state of this page. Rejects when it cannot be had. */
export async function showState(href: string, ids: readonly string[], signal?: AbortSignal) {
  const init = signal === undefined ? {} : { signal };
  const response = await fetch(href, { ...init, headers: { Accept: 'text/html' } });
  // Signed out meanwhile, or refused: the page itself says so.
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  // Signed out meanwhile, where that is another page of the same address.
  if (ids.every((id) => next.getElementById(id) === null)) throw new Error('another page');
  for (const id of ids) replace(id, next);
  document.dispatchEvent(new Event('svc:live'));
}

function follow(form: HTMLFormElement): void {
  const ids = form.dataset['live']!.split(' ');
  let timer = 0;
  let running = new AbortController();
  const update = async (): Promise<void> => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const href = addressOf(form);
    const waiting = setTimeout(() => sayWaiting(ids), PATIENCE_MS);
    try {
      await showState(href, ids, signal);
      history.replaceState(history.state, '', href);
    } catch {
      // A newer text is on its way, or the plain form has to do it.
      if (!signal.aborted) location.assign(href);
    } finally {
      clearTimeout(waiting);
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void update(), PAUSE_MS);
  });
  if (isTouched(form)) void update();
}

/** Whether somebody was faster than the script: the form no longer says what the page shows. */
export function isTouched(form: HTMLFormElement): boolean {
  return [...form.elements].some((field) => {
    if (field instanceof HTMLSelectElement) {
      const preset = [...field.options].findIndex((option) => option.defaultSelected);
      return field.selectedIndex !== Math.max(0, preset);
    }
    if (!(field instanceof HTMLInputElement)) return false;
    // Moments and numbers are written in other words than the markup has.
    const isText = field.type === 'text' || field.type === 'search';
    return isText ? field.value !== field.defaultValue : field.checked !== field.defaultChecked;
  });
}

/** What is shown is still that of the text before. */
function sayWaiting(ids: readonly string[]): void {
  for (const id of ids) {
    const element = document.getElementById(id);
    if (element?.getAttribute('role') === 'status') element.textContent = 'Looking…';
  }
}

function addressOf(form: HTMLFormElement): string {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && value !== '') query.append(name, value);
  }
  const { pathname } = new URL(form.action);
  return query.size === 0 ? pathname : `${pathname}?${query}`;
}

function replace(id: string, next: Document): void {
  const [old, fresh] = [document.getElementById(id), next.getElementById(id)];
  if (old === null || fresh === null) return;
  // A live region is read out when its text changes, not when it is another one.
  if (old.getAttribute('role') === 'status') old.textContent = fresh.textContent;
  else old.replaceChildren(...fresh.childNodes);
  localise(old);
}
