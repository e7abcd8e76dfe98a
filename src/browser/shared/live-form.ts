/**
 * `<form method="get" data-live="tree count">` fetches the page it leads to while the user types
 * and replaces the named elements. Without script it is submitted.
 */
import { localise } from './times.ts';

/** About as long as a fast typist needs for the next key. */
const PAUSE_MS = 150;
/** After so long without a response the page says that it is waiting. */
const PATIENCE_MS = 500;

/** Dispatches `svc:live` on document after replacing elements. */
export function startLiveForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) follow(form);
}

/** Replaces elements by those of another state of this page. Rejects when it cannot be loaded. */
export async function showState(href: string, ids: readonly string[], signal?: AbortSignal) {
  const init = signal === undefined ? {} : { signal };
  const response = await fetch(href, { ...init, headers: { Accept: 'text/html' } });
  // Signed out or refused meanwhile: loading the page itself shows why.
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  // Signed out, where the sign-in page has the same address.
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
      // Unless a newer text is being loaded, fall back to the plain form.
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

/** Whether the user changed the form before the script had loaded. */
export function isTouched(form: HTMLFormElement): boolean {
  return [...form.elements].some((field) => {
    if (field instanceof HTMLSelectElement) {
      const preset = [...field.options].findIndex((option) => option.defaultSelected);
      return field.selectedIndex !== Math.max(0, preset);
    }
    if (!(field instanceof HTMLInputElement)) return false;
    // Moments and numbers are rewritten from the markup's form.
    const isText = field.type === 'text' || field.type === 'search';
    return isText ? field.value !== field.defaultValue : field.checked !== field.defaultChecked;
  });
}

/** The shown result is still that of the earlier text. */
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
  // A live region is announced when its text changes, not when it is replaced.
  if (old.getAttribute('role') === 'status') old.textContent = fresh.textContent;
  else old.replaceChildren(...fresh.childNodes);
  localise(old);
}
