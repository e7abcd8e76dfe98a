/**
 * From a press to the next page, and back. A form that changes something is sent once: twice would
 * create two keys or two accounts, or refuse what has just been done. When the next page takes
 * long: elapsed time and a button to stay. Cancelling closes the connection, which ends the work on
 * the server too.
 */
import { BASE } from './site.ts';
import { cookie } from './ask.ts';
import { closestOf } from './element.ts';
import { beginWork, elapsedText, type Work } from './work-panel.ts';

const PATIENCE_MS = 800;
const STEP_MS = 250;
/** A limit because the page is not told when the user presses the browser's Stop. */
const SENT_MS = 10_000;
const PAGES = /^\/(?:(?:events|search|savedsearches|ui|admin\/ui|profile|docs)(?:\/|$)|$)/;

export function startLeaving(): void {
  let sent: HTMLFormElement | null = null;
  let sentTimer = 0;
  let waitTimer = 0;
  let work: Work | null = null;
  const unsend = (): void => {
    clearTimeout(sentTimer);
    sent = null;
  };
  const end = (): void => {
    clearTimeout(waitTimer);
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
        unsend();
      });
      work.say(elapsedText(startedAt), null);
      waitTimer = window.setTimeout(step, STEP_MS);
    };
    waitTimer = window.setTimeout(step, PATIENCE_MS);
  };
  // In the last phase, when scripts that handle the event have prevented it.
  addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.target !== '') return;
    const method = form.getAttribute('method');
    if (method === 'post') {
      if (form === sent) return event.preventDefault();
      unsend();
      sent = form;
      sentTimer = window.setTimeout(unsend, SENT_MS);
    }
    // Not `form.action`: a field may have that name.
    const address = new URL(form.getAttribute('action') ?? '', location.href).href;
    if (method !== 'dialog' && isPage(address)) begin(form.dataset['slow'] ?? 'Working');
  });
  addEventListener('click', (event) => {
    const link = closestOf<HTMLAnchorElement>(event, 'a[href]');
    if (event.defaultPrevented || link === null) return;
    if (isOpenedHere(link, event)) begin(link.dataset['slow'] ?? 'Opening the page');
  });
  addEventListener('pagehide', end);
  addEventListener('pageshow', () => {
    end();
    unsend();
  });
}

/** Whether a click is neither for another tab nor for a menu of the browser. */
export function isPlainClick(event: MouseEvent): boolean {
  const { button, ctrlKey, metaKey, shiftKey, altKey } = event;
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}

function isOpenedHere(link: HTMLAnchorElement, event: MouseEvent): boolean {
  if (!isPlainClick(event) || link.target !== '' || link.hasAttribute('download')) return false;
  const { pathname, search, hash } = new URL(link.href);
  const isPart = hash !== '' && pathname === location.pathname && search === location.search;
  return isPage(link.href) && !isPart;
}

/** Anything else may be a download, whose start this page would not notice. */
function isPage(address: string): boolean {
  const { origin, pathname, searchParams } = new URL(address);
  return (
    origin === location.origin &&
    PAGES.test(pathname.slice(BASE.length) || '/') &&
    !searchParams.has('format')
  );
}

/**
 * Back and Forward restore pages without asking the server: one made for a session that has ended
 * is hidden and reloaded. The page's token names its session.
 */
export function startReturning(): void {
  const made = document.querySelector<HTMLInputElement>('input[name=csrf_token]')?.value;
  if (made === undefined) return;
  const check = (): void => {
    if (cookie('svc_csrf') === made) return;
    document.documentElement.hidden = true;
    location.replace(location.pathname + location.search);
  };
  if (navigationType() === 'back_forward') check();
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) check();
  });
}

/** How the user came to this page. */
export function navigationType(): string | undefined {
  const [navigation] = performance.getEntriesByType('navigation');
  return (navigation as PerformanceNavigationTiming | undefined)?.type;
}
