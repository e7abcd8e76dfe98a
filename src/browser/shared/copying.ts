/** Buttons that copy (`data-copy`): an address, a request with curl, a text, what stands before. */
import { closer, closestOf, make, openDialog } from './element.ts';

const SHOWN_MS = 2_000;

/** Includes buttons inserted later. */
export function startCopying(): void {
  // The style sheet shows the buttons then.
  document.documentElement.dataset['copies'] = '';
  for (const block of document.querySelectorAll('.guide .prose pre')) {
    block.append(
      make('button.quiet.small.copy', { type: 'button', 'data-copy': 'before' }, 'Copy'),
    );
  }
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches('[data-select]')) target.select();
  });
  document.addEventListener('click', (event) => {
    const button = closestOf(event, '[data-copy]');
    if (button !== null) void copyBy(button);
  });
}

async function copyBy(button: HTMLElement): Promise<void> {
  const text = textOf(button);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers refuse on pages without TLS.
    const box = make('textarea.code', { rows: 4, readonly: true, 'aria-label': 'To be copied' });
    box.value = text;
    openDialog('Copy this', box, make('p.dialog-actions', closer('Close')));
    box.select();
    return;
  }
  const label = (button.dataset['label'] ??= button.textContent ?? '');
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), SHOWN_MS);
}

function textOf(button: HTMLElement): string {
  const { copy, query, from = '', text = '' } = button.dataset;
  if (copy === 'text') return text;
  if (copy === 'curl') return query === undefined ? curlOf(from) : curlOfQuery(query);
  const before = copy === 'before' ? button.previousElementSibling : null;
  if (before instanceof HTMLInputElement) return before.value;
  return before?.textContent ?? location.href;
}

const CURL = 'curl -H "X-API-Key: $SVC_API_KEY"';

function curlOf(path: string): string {
  return `${CURL} '${new URL(path, location.origin).href.replaceAll("'", '%27')}'`;
}

function curlOfQuery(query: string): string {
  const body = JSON.stringify({ query, format: 'json' }).replaceAll("'", "'\\''");
  const address = `${location.origin}/search2/api/run/`;
  return `${CURL} -H 'Content-Type: application/json' -d '${body}' '${address}'`;
}
