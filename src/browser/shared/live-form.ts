/**
 * `<form method="get" data-live="tree count">` fetches the page it leads to while the user types
 * and replaces the named elements. Without script it is submitted.
 */
import { debounced } from './element.ts';
import { localise } from './times.ts';

/** About as long as a fast typist needs for the next key. */
const PAUSE_MS = 150;
/** After so long without a response the page says that it is waiting. */
const PATIENCE_MS = 500;

interface LiveForms {
  addressOf(form: HTMLFormElement): string;
  /** Replaces elements by those of another state of this page. Throws for another page. */
  show(page: Document, ids: readonly string[]): void;
}

export function startLiveForms(): void {
  followForms({ addressOf, show: showParts });
}

export function followForms(ways: LiveForms): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-live]')) {
    follow(form, ways);
  }
}

/** Rejects when it cannot be loaded, or the user is signed out or refused meanwhile. */
export async function pageAt(address: string, init: RequestInit = {}): Promise<Document> {
  const response = await fetch(address, { ...init, headers: { Accept: 'text/html' } });
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

export function showParts(page: Document, ids: readonly string[]): void {
  // Signed out, where the sign-in page has the same address.
  if (ids.every((id) => page.getElementById(id) === null)) throw new Error('another page');
  for (const id of ids) replace(id, page);
}

function follow(form: HTMLFormElement, { addressOf, show }: LiveForms): void {
  const ids = form.dataset['live']!.split(' ');
  let running = new AbortController();
  const update = async (): Promise<void> => {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const href = addressOf(form);
    const waiting = setTimeout(() => sayWaiting(ids), PATIENCE_MS);
    try {
      const page = await pageAt(href, { signal });
      if (signal.aborted) return;
      show(page, ids);
      history.replaceState(history.state, '', href);
    } catch {
      // Unless a newer text is being loaded, fall back to the plain form.
      if (!signal.aborted) location.assign(href);
    } finally {
      clearTimeout(waiting);
    }
  };
  const start = debounced(PAUSE_MS, () => void update());
  form.addEventListener('input', start);
  if ([...form.elements].some(isTouched)) void update();
}

/** Whether the user changed a field before the script had loaded. */
export function isTouched(field: Element): boolean {
  if (field instanceof HTMLSelectElement) {
    const preset = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, preset);
  }
  if (!(field instanceof HTMLInputElement)) return false;
  // Moments and numbers are rewritten from the markup's form.
  const isText = field.type === 'text' || field.type === 'search';
  return isText ? field.value !== field.defaultValue : field.checked !== field.defaultChecked;
}

/** The shown result is still that of the earlier text. */
function sayWaiting(ids: readonly string[]): void {
  for (const id of ids) {
    const element = document.getElementById(id);
    if (element?.getAttribute('role') === 'status') element.textContent = 'Looking…';
    else element?.setAttribute('aria-busy', 'true');
  }
}

function addressOf(form: HTMLFormElement): string {
  const filled = fieldsOf(form).filter(([, value]) => value !== '');
  const { pathname } = new URL(form.action);
  return filled.length === 0 ? pathname : `${pathname}?${new URLSearchParams(filled)}`;
}

export function fieldsOf(form: HTMLFormElement): [name: string, value: string][] {
  return [...new FormData(form)].map(([name, value]) => [name, String(value)]);
}

function replace(id: string, next: Document): void {
  const [old, fresh] = [document.getElementById(id), next.getElementById(id)];
  if (old === null || fresh === null) return;
  old.removeAttribute('aria-busy');
  // A live region is announced when its text changes, not when it is replaced.
  if (old.getAttribute('role') === 'status') old.textContent = fresh.textContent;
  else old.replaceChildren(...fresh.childNodes);
  localise(old);
}
