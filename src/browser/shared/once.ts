/**
 * Prevents double submission of forms that change something: it would create two keys or two
 * accounts, or refuse what has just been done.
 */

/** A limit because the page is not told when the user presses the browser's Stop. */
const LIMIT_MS = 10_000;

/**
 * For forms answered by another page. The returned function reports that a submission was
 * cancelled.
 */
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
