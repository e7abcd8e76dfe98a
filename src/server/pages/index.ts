/**
 * Every page. A new one is a file beside this and one more line.
 */
import { datasetPage } from './dataset.tsx';
import { docsPage } from './docs.tsx';
import { documentPage } from './document.tsx';
import { errorPage } from './error.tsx';
import type { Page } from './frame.tsx';
import { landingPage } from './landing.tsx';
import { eventsPage } from './events.tsx';
import { galleryPage } from './gallery.tsx';
import { loginPage } from './login.tsx';
import { savedSearchesPage } from './saved-searches.tsx';
import { searchPage } from './search.tsx';
import { playerPage } from './player.tsx';
import { profilePage } from './profile.tsx';
import { setupPage } from './setup.tsx';
import { uploadedPage } from './uploaded.tsx';

/** In the order of the navigation; what a page shows is known to its route only. */
export const pages: readonly Page<never>[] = [
  landingPage,
  searchPage,
  datasetPage,
  documentPage,
  galleryPage,
  playerPage,
  eventsPage,
  savedSearchesPage,
  docsPage,
  loginPage,
  profilePage,
  setupPage,
  uploadedPage,
  errorPage,
];
