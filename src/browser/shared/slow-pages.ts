/**
 * When the next page takes long: elapsed time and a button to stay. Cancelling closes the
 * connection, which ends the work on the server too.
 */
import { beginWork, elapsedText, type Work } from './work-panel.ts';

const PATIENCE_MS = 800;
const STEP_MS = 250;
const PAGES = /^\/(?:(?:events|search|savedsearches|ui|admin\/ui|profile|docs)(?:\/|$)|$)/;

/** `givenUp` is called when the user stays here. */
export function startSlowPages(givenUp: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let work: Work | null = null;
  const end = (): void => {
    clearTimeout(timer);
    work?.remove();
    work = null;
  };
  const begin = (title: string): void => {
    end();
    const startedAt = performance.now();
    const step = (): void => {
      work ??= beginWork(title, () => {
        end();
        stop();
        givenUp();
      });
      work.say(elapsedText(startedAt), null);
      timer = setTimeout(step, STEP_MS);
    };
    timer = setTimeout(step, PATIENCE_MS);
  };
  // In the last phase, when scripts that handle the event have prevented it.
  addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.target !== '') return;
    // Not `form.action`: a field may have that name.
    const address = new URL(form.getAttribute('action') ?? '', location.href).href;
    if (form.getAttribute('method') !== 'dialog' && isPage(address)) {
      begin(form.dataset['slow'] ?? 'Working');
    }
  });
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (event.defaultPrevented || !(link instanceof HTMLAnchorElement)) return;
    if (isOpenedHere(link, event)) begin(link.dataset['slow'] ?? 'Opening the page');
  });
  addEventListener('pagehide', end);
  addEventListener('pageshow', end);
}

function isOpenedHere(link: HTMLAnchorElement, event: MouseEvent): boolean {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!isPlain || event.altKey || link.target !== '' || link.hasAttribute('download')) return false;
  const { pathname, search, hash } = new URL(link.href);
  const isPart = hash !== '' && pathname === location.pathname && search === location.search;
  return isPage(link.href) && !isPart;
}

/** Anything else may be a download, whose start this page would not notice. */
function isPage(address: string): boolean {
  const { origin, pathname, searchParams } = new URL(address);
  return origin === location.origin && PAGES.test(pathname) && !searchParams.has('format');
}
