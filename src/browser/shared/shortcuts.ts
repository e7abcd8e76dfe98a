/** Shortcuts: `data-key` focuses or presses an element, and `?` lists the keys. */

/** `openPalette` runs on Ctrl-K. Both have buttons in the banner too. */
export function startShortcuts(openPalette: () => void): void {
  reveal('#palette', openPalette);
  reveal('#key-list', showList);
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (isCommand && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (event.key === '?') {
      event.preventDefault();
      showList();
      return;
    }
    const target = keyed().get(event.key);
    if (target === undefined) return;
    event.preventDefault();
    use(target);
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
  const dialog = document.createElement('dialog');
  dialog.className = 'keys';
  dialog.setAttribute('aria-labelledby', 'keys-title');
  const title = document.createElement('h2');
  title.id = 'keys-title';
  title.textContent = 'Keys';
  const list = document.createElement('dl');
  const add = (key: string, meaning: string): void => {
    const term = document.createElement('dt');
    const kbd = document.createElement('kbd');
    kbd.textContent = key;
    term.append(kbd);
    const description = document.createElement('dd');
    description.textContent = meaning;
    list.append(term, description);
  };
  add('Ctrl K', 'Go to a page or resource');
  for (const [key, element] of keyed()) add(key, meaningOf(element));
  // Keys handled by other scripts.
  for (const element of document.querySelectorAll<HTMLElement>('[data-keys]')) {
    for (const line of element.dataset['keys']!.split('\n')) {
      const [key = '', ...meaning] = line.split(' ');
      add(key.replaceAll('+', ' '), meaning.join(' '));
    }
  }
  add('?', 'Show this list');
  const form = document.createElement('form');
  form.method = 'dialog';
  const close = document.createElement('button');
  close.className = 'quiet';
  close.textContent = 'Close';
  form.append(close);
  dialog.append(title, list, form);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function meaningOf(element: HTMLElement): string {
  return (
    element.getAttribute('aria-label') ??
    element.getAttribute('placeholder') ??
    element.textContent?.trim() ??
    ''
  );
}
