import { apiKeysPage } from '../admin/api-keys.tsx';
import { auditPage } from '../admin/audit.tsx';
import { cachePage } from '../admin/cache.tsx';
import { confirmPage } from '../admin/confirm.tsx';
import { eventsAdminPage } from '../admin/events.tsx';
import { explainPage } from '../admin/explain.tsx';
import { guidePage } from './guide.tsx';
import { groupPage } from '../admin/group.tsx';
import { groupsPage } from '../admin/groups.tsx';
import { locksPage } from '../admin/locks.tsx';
import { overviewPage } from '../admin/overview.tsx';
import { permissionsPage } from '../admin/permissions.tsx';
import { resourcesPage } from '../admin/resources.tsx';
import { sessionsPage } from '../admin/sessions.tsx';
import { sharePage } from '../admin/share.tsx';
import { tokensPage } from '../admin/tokens.tsx';
import { userPage } from '../admin/user.tsx';
import { usersPage } from '../admin/users.tsx';
import { datasetPage } from './dataset.tsx';
import { docsPage } from './docs.tsx';
import { operationPage } from './operation.tsx';
import { documentPage } from './document.tsx';
import { errorPage } from './error.tsx';
import type { Page } from './frame.tsx';
import { landingPage } from './landing.tsx';
import { eventsPage } from './events.tsx';
import { galleryPage } from './gallery.tsx';
import { loginPage } from './login.tsx';
import { savedSearchesPage } from './saved-searches.tsx';
import { searchLanguagePage } from './search-language.tsx';
import { readingPage } from './reading.tsx';
import { rowPage } from './row.tsx';
import { searchPage } from './search.tsx';
import { playerPage } from './player.tsx';
import { profilePage } from './profile.tsx';
import { setupPage } from './setup.tsx';
import { uploadedPage } from './uploaded.tsx';
import { uploadRefusedPage } from './upload-refused.tsx';

/** In the order of the navigation. `never`: only its route knows what a page shows. */
export const pages: readonly Page<never>[] = [
  landingPage,
  searchPage,
  datasetPage,
  rowPage,
  readingPage,
  documentPage,
  galleryPage,
  playerPage,
  eventsPage,
  savedSearchesPage,
  docsPage,
  operationPage,
  guidePage,
  overviewPage,
  searchLanguagePage,
  loginPage,
  profilePage,
  setupPage,
  uploadedPage,
  uploadRefusedPage,
  errorPage,
  usersPage,
  userPage,
  groupsPage,
  groupPage,
  sharePage,
  permissionsPage,
  explainPage,
  apiKeysPage,
  tokensPage,
  sessionsPage,
  auditPage,
  resourcesPage,
  eventsAdminPage,
  locksPage,
  cachePage,
  confirmPage,
];
