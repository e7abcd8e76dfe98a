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
