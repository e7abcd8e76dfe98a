/** Shortcuts: `data-key` focuses or presses an element, and `?` lists the keys. */
import { make, openDialog } from './element.ts';

/** `openPalette` runs on Ctrl-K. Both have buttons in the banner too. */
export function startShortcuts(openPalette: () => void): void {
  reveal('#palette', openPalette);
  reveal('#key-list', showList);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const hasCommand = event.ctrlKey || event.metaKey;
    const isPalette = hasCommand && !event.altKey && !event.shiftKey;
    if (isPalette && event.key.toLowerCase() === 'k') openPalette();
    else if (hasCommand || event.altKey || isTyping(event)) return;
    else if (event.key === '?') showList();
    else {
      const target = keyed().get(event.key);
      if (target === undefined) return;
      use(target);
    }
    event.preventDefault();
  });
}

function reveal(selector: string, run: () => void): void {
  const button = document.querySelector<HTMLButtonElement>(selector);
  if (button === null) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    // Closing first returns the focus to the menu's button, so that it comes back there after the
    // dialog.
    button.closest<HTMLElement>('[popover]')?.hidePopover();
    run();
  });
}

/** Of two elements with the same key, the visible one. */
function keyed(): Map<string, HTMLElement> {
  const found = new Map<string, HTMLElement>();
  for (const element of document.querySelectorAll<HTMLElement>('[data-key]')) {
    const key = element.dataset['key']!;
    if (element.closest('[hidden]') !== null) continue;
    if (found.get(key)?.checkVisibility() !== true) found.set(key, element);
  }
  return found;
}

function use(target: HTMLElement): void {
  if (target.matches('input, select, textarea')) {
    target.focus();
    if (target instanceof HTMLInputElement) target.select();
  } else target.click();
}

function isTyping(event: KeyboardEvent): boolean {
  // The query editor is in a shadow tree and is not the event's target outside it.
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input, select, textarea, [role=textbox]');
}

function showList(): void {
  if (document.querySelector('dialog.keys[open]') !== null) return;
  const keys: [key: string, meaning: string][] = [['Ctrl K', 'Go to a page or resource']];
  for (const [key, element] of keyed()) keys.push([key, meaningOf(element)]);
  // Keys handled by other scripts.
  for (const element of document.querySelectorAll<HTMLElement>('[data-keys]')) {
    for (const line of element.dataset['keys']!.split('\n')) {
      const [key = '', ...meaning] = line.split(' ');
      keys.push([key.replaceAll('+', ' '), meaning.join(' ')]);
    }
  }
  keys.push(['?', 'Show this list']);
  openDialog(
    'Keys',
    { class: 'keys' },
    make(
      'dl',
      keys.map(([key, meaning]) => [make('dt', make('kbd', key)), make('dd', meaning)]),
    ),
    make('form', { method: 'dialog' }, make('button.quiet', 'Close')),
  );
}

function meaningOf(element: HTMLElement): string {
  return (
    element.getAttribute('aria-label') ??
    element.getAttribute('placeholder') ??
    element.textContent?.trim() ??
    ''
  );
}
