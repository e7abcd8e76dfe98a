import { make } from './shared/element.ts';
import { pageAt, showParts, startLiveForms } from './shared/live-form.ts';
import { recentSearches } from './shared/recent-searches.ts';
import { startUpload } from './shared/upload.ts';

startLiveForms();
showRecentSearches();
startUpload(async () => showParts(await pageAt(location.href), ['tree', 'count']));

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
