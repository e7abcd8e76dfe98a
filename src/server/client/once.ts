/**
 * A form that changes something is sent once, however often its button is pressed while the answer is on its way: two presses
 * are two keys, two accounts, or a refusal of what has just been done.
 */

/** As long as the browser has been told nothing, which is also what its own Stop button leaves behind. */
const LIMIT_MS = 10_000;

/** Watches the forms of this page that are answered by another page; the answer is to be called when the sending was given up. */
export function startSendingOnce(): () => void {
  let sent: HTMLFormElement | null = null;
  let timer = 0;
  const end = (): void => {
    clearTimeout(timer);
    sent = null;
  };
  addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
    if (form.getAttribute('method') !== 'post' || form.target !== '') return;
    if (form === sent) {
      event.preventDefault();
      return;
    }
    end();
    sent = form;
    timer = window.setTimeout(end, LIMIT_MS);
  });
  addEventListener('pageshow', end);
  return end;
}
