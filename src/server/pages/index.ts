/**
 * Every page. A new one is a file beside this and one more line.
 */
import { datasetPage } from './dataset.tsx';
import { docsPage } from './docs.tsx';
import { errorPage } from './error.tsx';
import type { Page } from './frame.tsx';
import { landingPage } from './landing.tsx';
import { loginPage } from './login.tsx';
import { searchPage } from './search.tsx';
import { setupPage } from './setup.tsx';
import { uploadedPage } from './uploaded.tsx';

/** In the order of the navigation; what a page shows is known to its route only. */
export const pages: readonly Page<never>[] = [
  landingPage,
  searchPage,
  datasetPage,
  docsPage,
  loginPage,
  setupPage,
  uploadedPage,
  errorPage,
];
