/**
 * Taking a view of the explorer along: its address, and the same query for a terminal.
 */
import { copied } from './copying.ts';

/** Makes the buttons work. */
export function startCopying(explorer: HTMLElement): void {
  for (const button of explorer.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const query = button.dataset['query'];
      void copy(button, query === undefined ? location.href : curlOf(query));
    });
  }
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
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

function curlOf(query: string): string {
  const body = JSON.stringify({ query, format: 'json' }).replaceAll("'", "'\\''");
  const address = `${location.origin}/search2/api/run/`;
  return `curl -H "X-API-Key: $SVC_API_KEY" -H 'Content-Type: application/json' -d '${body}' '${address}'`;
}
