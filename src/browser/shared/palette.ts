/** The palette (Ctrl-K): jump to a page, resource, saved search or action. */

import { jsonOf } from './answers.ts';

interface Entry {
  readonly label: string;
  readonly kind: string;
  run(): void;
}

const MAX_SHOWN = 12;

export function startPalette(): () => void {
  return () => {
    if (document.querySelector('dialog.palette[open]') !== null) return;
    // Reloaded each time: a page stays open for days, and the list may have failed before.
    open(findEntries());
  };
}

function open(entries: Promise<readonly Entry[]>): void {
  const dialog = document.createElement('dialog');
  dialog.className = 'palette';
  dialog.setAttribute('aria-label', 'Go to');
  const input = document.createElement('input');
  input.type = 'search';
  input.placeholder = 'Go to a page, a resource, an action';
  input.setAttribute('aria-label', 'Go to');
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-expanded', 'true');
  input.setAttribute('aria-controls', 'palette-list');
  input.autocomplete = 'off';
  const list = document.createElement('ul');
  list.id = 'palette-list';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Matches');
  const nothing = document.createElement('p');
  nothing.setAttribute('role', 'status');
  dialog.append(input, list, nothing);
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
    list.replaceChildren(...found.map((entry, index) => itemOf(entry, index, choose)));
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
    if (shown[selected] !== undefined) choose(shown[selected]!);
    else location.assign(`/search?${new URLSearchParams({ q: input.value })}`);
  };
  input.addEventListener('input', () => void update());
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      selected = (selected + step + shown.length) % shown.length;
      mark();
    } else if (event.key === 'Escape') {
      // Esc would first empty a search field.
      event.preventDefault();
      dialog.close();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      void take();
    }
  });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  void update();
}

function itemOf(entry: Entry, index: number, choose: (entry: Entry) => void): HTMLLIElement {
  const item = document.createElement('li');
  item.id = `palette-${index}`;
  item.setAttribute('role', 'option');
  const label = document.createElement('span');
  label.textContent = entry.label;
  const kind = document.createElement('small');
  kind.textContent = entry.kind;
  item.append(label, kind);
  item.addEventListener('click', () => choose(entry));
  return item;
}

/** Entries whose label has the letters in this order; prefixes and substrings first. */
function matching(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return entries.slice(0, MAX_SHOWN);
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
  const go = (href: string) => () => location.assign(href);
  const links = document.querySelectorAll<HTMLAnchorElement>('#menu a[href], #account a[href]');
  const pages = [...links].map((link) => ({
    label: link.textContent ?? '',
    kind: 'page',
    run: go(link.href),
  }));
  const actions = [...document.querySelectorAll<HTMLElement>('[data-action]')].map((element) => ({
    label: element.dataset['action']!,
    kind: 'action',
    run: () => element.click(),
  }));
  const searchesOn = document.querySelector('#menu a[href="/savedsearches"]') !== null;
  const [resources, searches] = await Promise.all([
    listed('/_svc/resources', (one: { name: string; href: string; kind: string }) => ({
      label: one.name,
      kind: one.kind,
      run: go(one.href),
    })),
    searchesOn
      ? listed('/api/savedsearches/', (one: { id: number; name: string }) => ({
          label: one.name,
          kind: 'saved search',
          run: go(`/savedsearches?id=${one.id}`),
        }))
      : [],
  ]);
  return [...actions, ...pages, ...searches, ...resources];
}

/** Empty when the list cannot be loaded. */
async function listed<T>(path: string, entryOf: (one: T) => Entry): Promise<Entry[]> {
  try {
    const response = await fetch(path, { headers: { Accept: 'application/json' } });
    return ((await jsonOf<T[]>(response)) ?? []).map(entryOf);
  } catch {
    return [];
  }
}
