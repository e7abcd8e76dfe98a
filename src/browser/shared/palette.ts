/** The palette (Ctrl-K): jump to a page, resource, saved search or action. */
import { onSite } from './site.ts';
import { askJson } from './ask.ts';
import { make } from './element.ts';

interface Entry {
  readonly label: string;
  readonly kind: string;
  run(): void;
}

const MAX_SHOWN = 12;

export function openPalette(): void {
  if (document.querySelector('dialog.palette[open]') !== null) return;
  // Reloaded each time: a page stays open for days, and the list may have failed before.
  const entries = findEntries();
  const input = make('input', {
    type: 'search',
    placeholder: 'Go to a page, a resource, an action',
    'aria-label': 'Go to',
    role: 'combobox',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    autocomplete: 'off',
  });
  const list = make('ul', { id: 'palette-list', role: 'listbox', 'aria-label': 'Matches' });
  const nothing = make('p', { role: 'status' });
  const dialog = make('dialog.palette', { 'aria-label': 'Go to' }, input, list, nothing);
  let shown: readonly Entry[] = [];
  let selected = 0;
  let shownFor: string | null = null;

  const mark = (): void => {
    [...list.children].forEach((item, index) => {
      item.setAttribute('aria-selected', String(index === selected));
      if (index !== selected) return;
      input.setAttribute('aria-activedescendant', item.id);
      item.scrollIntoView({ block: 'nearest' });
    });
  };
  const update = async (): Promise<void> => {
    const wanted = input.value;
    const found = matching(await entries, wanted);
    if (input.value !== wanted) return;
    shown = found;
    shownFor = wanted;
    selected = 0;
    const items = found.map((entry, index) =>
      make(
        'li',
        { id: `palette-${index}`, role: 'option', onclick: () => choose(entry) },
        make('span', entry.label),
        make('small', entry.kind),
      ),
    );
    list.replaceChildren(...items);
    nothing.textContent =
      found.length > 0 ? '' : 'Nothing here is called so. Enter searches for the words.';
    mark();
  };
  const choose = (entry: Entry): void => {
    dialog.close();
    entry.run();
  };
  const take = async (): Promise<void> => {
    // Fast typing does not wait for the list.
    if (shownFor !== input.value) await update();
    if (!dialog.open) return;
    const entry = shown[selected];
    if (entry !== undefined) choose(entry);
    else location.assign(onSite(`/search?${new URLSearchParams({ q: input.value })}`));
  };
  input.addEventListener('input', () => void update());
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      selected = (selected + step + shown.length) % shown.length;
      mark();
      // Esc would first empty a search field.
    } else if (event.key === 'Escape') dialog.close();
    else if (event.key === 'Enter') void take();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  void update();
}

/** Entries whose label has the letters in this order; prefixes and substrings first. */
function matching(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry.label.toLowerCase(), wanted) }))
    .filter(({ rank }) => rank < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_SHOWN)
    .map(({ entry }) => entry);
}

function rankOf(label: string, wanted: string): number {
  const at = label.indexOf(wanted);
  if (at >= 0) return at === 0 ? 0 : 1 + at / 1000;
  let position = -1;
  for (const letter of wanted) {
    position = label.indexOf(letter, position + 1);
    if (position < 0) return Number.POSITIVE_INFINITY;
  }
  return 10 + label.length / 1000;
}

async function findEntries(): Promise<Entry[]> {
  const go = (href: string) => () => location.assign(onSite(href));
  const links = document.querySelectorAll<HTMLAnchorElement>('#menu a[href], #account a[href]');
  const pages = [...links].map(({ textContent, href }) => ({
    label: textContent ?? '',
    kind: 'page',
    run: go(href),
  }));
  const actions = [...document.querySelectorAll<HTMLElement>('[data-action]')].map((element) => ({
    label: element.dataset['action']!,
    kind: 'action',
    run: () => element.click(),
  }));
  const searchesOn = document.querySelector('#menu a[href$="/savedsearches"]') !== null;
  const [resources, searches] = await Promise.all([
    listed<{ name: string; href: string; kind: string }>('/_svc/resources'),
    searchesOn ? listed<{ id: number; name: string }>('/api/savedsearches/') : [],
  ]);
  return [
    ...actions,
    ...pages,
    ...searches.map(({ id, name }) => ({
      label: name,
      kind: 'saved search',
      run: go(`/savedsearches?id=${id}`),
    })),
    ...resources.map(({ name, kind, href }) => ({ label: name, kind, run: go(href) })),
  ];
}

/** Empty when the list cannot be loaded. */
function listed<T>(path: string): Promise<T[]> {
  return askJson<T[]>(path).catch(() => []);
}
