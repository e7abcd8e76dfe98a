/**
 * Back and Forward restore pages without asking the server: one made for a session that has ended
 * is hidden and reloaded. The page's token names its session.
 */
import { cookie } from './cookies.ts';

export function startReturning(): void {
  const made = document.querySelector<HTMLInputElement>('input[name=csrf_token]')?.value;
  if (made === undefined) return;
  const check = (): void => {
    if (cookie('svc_csrf') === made) return;
    document.documentElement.hidden = true;
    location.replace(location.pathname + location.search);
  };
  const [navigation] = performance.getEntriesByType('navigation');
  if ((navigation as PerformanceNavigationTiming | undefined)?.type === 'back_forward') check();
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) check();
  });
}
