/**
 * Progress of long work in a corner of the page, with a button to stop it. Screen readers hear its
 * start and end, not every step.
 */
import { make, quietButton } from './element.ts';

export interface Work {
  /** `share` done, 0 to 1; null while unknown. */
  say(text: string, share: number | null): void;
  /** Shows the outcome for `after` ms; null keeps it until closed, for failures. */
  end(text: string, after: number | null): void;
  remove(): void;
}

export function beginWork(title: string, stop: () => void): Work {
  const detail = make('span.fine');
  const progress = make('progress', { 'aria-label': title });
  const cancel = quietButton('Cancel', stop, { 'aria-label': `Cancel: ${title}` });
  cancel.addEventListener('click', () => (cancel.disabled = true));
  const line = make(
    'section.work',
    { 'aria-label': title },
    make('strong', title),
    detail,
    progress,
    cancel,
  );
  panel().append(line);
  announce(title);
  const remove = (): void => line.remove();
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
      cancel.replaceWith(quietButton('Close', remove, { 'aria-label': `Close: ${title}` }));
      announce(`${title}: ${text}`);
      if (after !== null) setTimeout(remove, after);
    },
    remove,
  };
}

/** `4 s`, `2 min 5 s`. */
export function elapsedText(sinceMs: number): string {
  const seconds = Math.floor((performance.now() - sinceMs) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function panel(): HTMLElement {
  const found = document.getElementById('works');
  if (found !== null) return found;
  const heard = make('p.visually-hidden', { role: 'status' });
  const made = make('aside', { id: 'works', 'aria-label': 'Work in progress' }, heard);
  document.body.append(made);
  return made;
}

function announce(text: string): void {
  panel().querySelector('[role=status]')!.textContent = text;
}
