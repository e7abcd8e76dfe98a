import { make } from './shared/element.ts';
import { startFileActions } from './shared/file-actions.ts';
import { pageAt, showParts, startLiveForms } from './shared/live-form.ts';
import { recentSearches } from './shared/recent-searches.ts';
import { startUpload } from './shared/upload.ts';

startLiveForms();
showRecentSearches();
const refresh = async (): Promise<void> => {
  showParts(await pageAt(location.href), ['tree', 'count']);
};
startUpload(refresh);
startFileActions(refresh);

function showRecentSearches(): void {
  const section = document.querySelector<HTMLElement>('#recent');
  const searches = recentSearches();
  if (section === null || searches.length === 0) return;
  const items = searches.map((text) =>
    make('li', make('a', { href: `/search?q=${encodeURIComponent(text)}` }, text)),
  );
  section.querySelector('ul')?.replaceChildren(...items);
  section.hidden = false;
}
