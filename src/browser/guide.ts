import { copied } from './shared/copying.ts';

const SHOWN_MS = 2000;

for (const block of document.querySelectorAll<HTMLElement>('.guide .prose pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small copy';
  button.textContent = 'Copy';
  const text = block.textContent ?? '';
  button.addEventListener('click', () => void copy(text, button, block));
  block.append(button);
}

/**
 * Browsers refuse the clipboard on pages without TLS; then the text is selected for copying by
 * hand.
 */
async function copy(text: string, button: HTMLElement, block: HTMLElement): Promise<void> {
  if (await copied(text)) button.textContent = 'Copied';
  else {
    const code = block.querySelector('code');
    if (code !== null) getSelection()?.selectAllChildren(code);
    button.textContent = 'Press Ctrl+C';
  }
  setTimeout(() => (button.textContent = 'Copy'), SHOWN_MS);
}
