/** Recent searches of the signed-in user, kept in this browser only and deleted on sign-out. */

const MAX_KEPT = 6;
const PREFIX = 'svc_recent_';

/** Words of the site search, or the address of an explorer view. */
type RecentKind = 'searches' | 'queries';

export function recentSearches(kind: RecentKind = 'searches'): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key(kind)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
  } catch {
    // Storage is disabled, or holds something else.
    return [];
  }
}

export function noteSearch(text: string, kind: RecentKind = 'searches'): void {
  const others = recentSearches(kind).filter((one) => one !== text);
  try {
    localStorage.setItem(key(kind), JSON.stringify([text, ...others].slice(0, MAX_KEPT)));
  } catch {
    // Storage is full or switched off: nothing is remembered.
  }
}

export function forgetSearches(): void {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX)) localStorage.removeItem(name);
    }
  } catch {
    // Storage is switched off, so there is nothing to forget.
  }
}

function key(kind: RecentKind): string {
  return `${PREFIX}${kind}:` + (document.querySelector('.who')?.textContent ?? '');
}
