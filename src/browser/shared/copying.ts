/** False where the browser refuses, as on pages without TLS. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The caller shows the text for copying by hand.
    return false;
  }
}

/** Adds a button to every box that exists only to be copied (`data-select`). */
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

export function startCopyButtons(): void {
  // The style sheet shows the buttons then, also in parts inserted later.
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

export function curlOf(path: string): string {
  return `${CURL} '${new URL(path, location.origin).href.replaceAll("'", '%27')}'`;
}

function curlOfQuery(query: string): string {
  const body = JSON.stringify({ query, format: 'json' }).replaceAll("'", "'\\''");
  const address = `${location.origin}/search2/api/run/`;
  return `${CURL} -H 'Content-Type: application/json' -d '${body}' '${address}'`;
}
