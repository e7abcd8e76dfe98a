/**
 * Back and Forward show pages as they were left, without asking the server: one that was made for somebody who has signed out
 * since is not shown, it is asked for again. Its token names the session it was made in (DS-112).
 */
import { cookie } from './cookies.ts';

/** Looks at the page now and whenever it is returned to. */
export function startReturning(): void {
  const made = document.querySelector<HTMLInputElement>('input[name=csrf_token]')?.value;
  if (made === undefined) return;
  const check = (): void => {
    if (cookie('svc_csrf') === made) return;
    document.documentElement.hidden = true;
    // Not a reload, which would send again the form that a page may be the answer to.
    location.replace(location.pathname + location.search);
  };
  const [navigation] = performance.getEntriesByType('navigation');
  if ((navigation as PerformanceNavigationTiming | undefined)?.type === 'back_forward') check();
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) check();
  });
}
