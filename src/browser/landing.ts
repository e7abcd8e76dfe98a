import { showState, startLiveForms } from './shared/live-form.ts';
import { recentSearches } from './shared/recent-searches.ts';
import { startUpload } from './upload.ts';

startLiveForms();
showRecentSearches();
startUpload(() => showState(location.href, ['tree', 'count']));

function showRecentSearches(): void {
  const section = document.querySelector<HTMLElement>('#recent');
  const searches = recentSearches();
  if (section === null || searches.length === 0) return;
  const items = searches.map((text) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = `/search?q=${encodeURIComponent(text)}`;
    link.textContent = text;
    item.append(link);
    return item;
  });
  section.querySelector('ul')?.replaceChildren(...items);
  section.hidden = false;
}
