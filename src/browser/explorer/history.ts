/** The last queries, kept in this browser only. */
import { spanName } from './times.ts';
import { noteSearch, recentSearches } from '../shared/recent-searches.ts';

export function startHistory(explorer: HTMLElement, form: HTMLFormElement): void {
  const asked = new URLSearchParams(location.search).get('q') ?? '';
  if (asked.trim() !== '' && explorer.querySelector('.query-problem') === null) {
    noteSearch(`${location.pathname}${location.search}`, 'queries');
  }
  const place = explorer.querySelector<HTMLDetailsElement>('#history');
  const addresses = recentSearches('queries');
  if (place === null || addresses.length === 0) return;
  place.querySelector('ul')!.replaceChildren(...addresses.map((one) => itemOf(one, form)));
  place.hidden = false;
}

function itemOf(address: string, form: HTMLFormElement): HTMLLIElement {
  const query = new URL(address, location.origin).searchParams;
  const link = document.createElement('a');
  link.href = `${location.pathname}?${query}`;
  const text = document.createElement('code');
  text.textContent = query.get('q') ?? '';
  const time = document.createElement('small');
  time.textContent = spanName(form, query);
  link.append(text, ' ', time);
  const item = document.createElement('li');
  item.append(link);
  return item;
}
