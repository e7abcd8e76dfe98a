/**
 * Every page: theme, local times, keyboard shortcuts (`data-key`), copying, and the palette
 * (Ctrl-K).
 */
import { startCopyBoxes, startCopyButtons } from './shared/copying.ts';
import { startDownloads } from './shared/downloads.ts';
import { forgetSearches } from './shared/recent-searches.ts';
import { startSendingOnce } from './shared/once.ts';
import { startPalette } from './shared/palette.ts';
import { startReturning } from './shared/returning.ts';
import { startShortcuts } from './shared/shortcuts.ts';
import { startSlowPages } from './shared/slow-pages.ts';
import { startTheme } from './shared/theme.ts';
import { localise } from './shared/times.ts';

startReturning();
startTheme();
localise(document);
startCopyBoxes();
startCopyButtons();
startDownloads();
// First: a form that is not sent again starts no waiting notice.
startSlowPages(startSendingOnce());
const openPalette = startPalette();
startShortcuts(openPalette);
document
  .querySelector('form[action="/auth/logout"]')
  ?.addEventListener('submit', () => forgetSearches());
