/**
 * What every page can do beyond plain HTML: the look is switched and remembered, times read in the reader's zone, keys reach
 * what is marked with `data-key`, and Ctrl-K jumps to any page or resource.
 */
import { startCopyBoxes, startCopyButtons } from './copying.ts';
import { startDownloads } from './downloads.ts';
import { forgetSearches } from './recent-searches.ts';
import { startSendingOnce } from './once.ts';
import { startPalette } from './palette.ts';
import { startReturning } from './returning.ts';
import { startShortcuts } from './shortcuts.ts';
import { startSlowPages } from './slow-pages.ts';
import { startTheme } from './theme.ts';
import { localise } from './times.ts';

startReturning();
startTheme();
localise(document);
startCopyBoxes();
startCopyButtons();
startDownloads();
// Before the next: a form that is not sent again begins nothing.
startSlowPages(startSendingOnce());
const openPalette = startPalette();
startShortcuts(openPalette);
document
  .querySelector('form[action="/auth/logout"]')
  ?.addEventListener('submit', () => forgetSearches());
