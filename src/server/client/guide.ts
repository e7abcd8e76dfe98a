/**
 * A button that copies, on every block of code of the guide.
 */
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

/** Browsers refuse the clipboard to pages that came without TLS; then the text is selected for copying by hand. */
async function copy(text: string, button: HTMLElement, block: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    const code = block.querySelector('code');
    if (code !== null) getSelection()?.selectAllChildren(code);
    button.textContent = 'Press Ctrl+C';
  }
  setTimeout(() => (button.textContent = 'Copy'), SHOWN_MS);
}
