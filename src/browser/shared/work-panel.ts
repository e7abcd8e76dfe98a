/**
 * Progress of long work in a corner of the page, with a button to stop it. Screen readers hear its
 * start and end, not every step.
 */

export interface Work {
  say(text: string, share: number | null): void;
  /** Shows the outcome for `after` ms; null keeps it until closed, for failures. */
  end(text: string, after: number | null): void;
  remove(): void;
}

export function beginWork(title: string, stop: () => void): Work {
  const line = document.createElement('section');
  line.className = 'work';
  line.setAttribute('aria-label', title);
  const name = textElement('strong', title);
  const detail = textElement('span', '');
  detail.className = 'fine';
  const progress = document.createElement('progress');
  progress.setAttribute('aria-label', title);
  const button = textElement('button', 'Cancel') as HTMLButtonElement;
  button.type = 'button';
  button.className = 'quiet small';
  button.setAttribute('aria-label', `Cancel: ${title}`);
  button.addEventListener('click', stop, { once: true });
  line.append(name, detail, progress, button);
  panel().append(line);
  announce(title);
  return {
    say(text, share) {
      detail.textContent = text;
      if (share === null) progress.removeAttribute('value');
      else progress.value = share;
    },
    end(text, after) {
      detail.textContent = text;
      progress.remove();
      line.classList.toggle('failed', after === null);
      const close = textElement('button', 'Close') as HTMLButtonElement;
      close.type = 'button';
      close.className = 'quiet small';
      close.setAttribute('aria-label', `Close: ${title}`);
      close.addEventListener('click', () => line.remove());
      button.replaceWith(close);
      announce(`${title}: ${text}`);
      if (after !== null) setTimeout(() => line.remove(), after);
    },
    remove: () => line.remove(),
  };
}

/** `4 s`, `2 min 5 s`. */
export function elapsedText(sinceMs: number): string {
  const seconds = Math.floor((performance.now() - sinceMs) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function panel(): HTMLElement {
  let found = document.getElementById('works');
  if (found === null) {
    found = document.createElement('aside');
    found.id = 'works';
    found.setAttribute('aria-label', 'Work in progress');
    const heard = document.createElement('p');
    heard.className = 'visually-hidden';
    heard.setAttribute('role', 'status');
    found.append(heard);
    document.body.append(found);
  }
  return found;
}

function announce(text: string): void {
  panel().querySelector('[role=status]')!.textContent = text;
}

function textElement(tag: 'strong' | 'span' | 'button', text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
