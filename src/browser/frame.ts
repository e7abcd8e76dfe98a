/**
 * Every page: theme, local times, keyboard shortcuts (`data-key`), copying, and the palette
 * (Ctrl-K).
 */
import { startCopying } from './shared/copying.ts';
import { startDownloads } from './shared/downloads.ts';
import { startLeaving, startReturning } from './shared/leaving.ts';
import { startMenus } from './shared/menus.ts';
import { openPalette } from './shared/palette.ts';
import { forgetSearches } from './shared/recent-searches.ts';
import { startShortcuts } from './shared/shortcuts.ts';
import { localise } from './shared/times.ts';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
type Theme = keyof typeof NEXT;
const LABELS: Readonly<Record<Theme, string>> = {
  auto: 'Look: as the system',
  light: 'Look: light',
  dark: 'Look: dark',
};
const YEAR_SECONDS = 365 * 24 * 60 * 60;

startReturning();
startTheme();
localise(document);
startCopying();
startDownloads();
startLeaving();
startMenus();
startShortcuts(openPalette);
document.querySelector<HTMLAnchorElement>('a[data-share]')?.addEventListener('click', carryView);
document.querySelector('form[action$="/auth/logout"]')?.addEventListener('submit', forgetSearches);

/** What is shared is what is shown now: scripts change the address of a page without loading it anew. */
function carryView({ currentTarget }: Event): void {
  const link = currentTarget as HTMLAnchorElement;
  const [address, shown] = [new URL(link.href), new URLSearchParams(location.search)];
  for (const name of ['filter', 'sort', 'columns', 'q']) {
    const texts = shown.getAll(name);
    if (texts.some((text) => text !== '')) address.searchParams.set(name, texts.join(','));
    else address.searchParams.delete(name);
  }
  link.href = address.href;
}

/** Light, dark or automatic, in a cookie so that the server renders the next page right. */
function startTheme(): void {
  matchMedia('print').addEventListener('change', tellTheme);
  const button = document.querySelector<HTMLButtonElement>('#theme');
  if (button === null) return;
  const { dataset } = document.documentElement;
  const present = (): Theme => (dataset['theme'] ?? 'auto') as Theme;
  const label = (): void => {
    button.title = LABELS[present()];
    button.setAttribute('aria-label', LABELS[present()]);
  };
  button.addEventListener('click', () => {
    const theme = NEXT[present()];
    if (theme === 'auto') delete dataset['theme'];
    else dataset['theme'] = theme;
    const age = theme === 'auto' ? 0 : YEAR_SECONDS;
    document.cookie = `svc_theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax`;
    label();
    tellTheme();
  });
  label();
  button.hidden = false;
}

function tellTheme(): void {
  document.dispatchEvent(new Event('svc:theme'));
}
