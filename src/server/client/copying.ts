/**
 * Into the clipboard, and what else to do where the browser refuses that.
 */

/** Copies a text; false where the browser refuses, as it does to pages that came without TLS. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Refused; the caller shows the text for copying by hand.
    return false;
  }
}

/** Puts a button beside every box whose only use is to be copied (`data-select`). */
export function startCopyBoxes(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>('input[data-select]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      box.select();
      void copied(box.value).then((isCopied) => {
        button.textContent = isCopied ? 'Copied' : 'Press Ctrl C';
      });
    });
    box.addEventListener('focus', () => box.select());
    const line = document.createElement('span');
    line.className = 'copy-box';
    box.replaceWith(line);
    line.append(box, button);
  }
}

/** Makes the buttons that copy work (`data-copy`): the address of the view, its data for a terminal, or a text of their own. */
export function startCopyButtons(): void {
  // The style sheet shows them then, those of parts that come later too.
  document.documentElement.dataset['copies'] = '';
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
    if (!(button instanceof HTMLButtonElement)) return;
    const { copy, query, from = '', text = '' } = button.dataset;
    const curl = query === undefined ? curlOf(from) : curlOfQuery(query);
    const texts: Readonly<Record<string, string>> = { curl, text };
    void copyFrom(button, texts[copy ?? ''] ?? location.href);
  });
}

async function copyFrom(button: HTMLButtonElement, text: string): Promise<void> {
  if (await copied(text)) {
    button.textContent = 'Copied';
    return;
  }
  const box = document.createElement('textarea');
  box.readOnly = true;
  box.rows = 4;
  box.value = text;
  box.setAttribute('aria-label', 'To be copied');
  button.replaceWith(box);
  box.select();
}

const CURL = 'curl -H "X-API-Key: $SVC_API_KEY"';

/** A request for an address of this server, for a terminal. */
export function curlOf(path: string): string {
  return `${CURL} '${new URL(path, location.origin).href.replaceAll("'", '%27')}'`;
}

function curlOfQuery(query: string): string {
  const body = JSON.stringify({ query, format: 'json' }).replaceAll("'", "'\\''");
  const address = `${location.origin}/search2/api/run/`;
  return `${CURL} -H 'Content-Type: application/json' -d '${body}' '${address}'`;
}
