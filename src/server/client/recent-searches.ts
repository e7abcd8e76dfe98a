/**
 * The last searches and queries of whoever is signed in, kept in this browser only and forgotten with the sign-out.
 */

const MAX_KEPT = 6;
const PREFIX = 'svc_recent_';

/** What was searched: words for everything readable, or the address of a view of the explorer. */
type RecentKind = 'searches' | 'queries';

/** The last searches, newest first; none where the browser keeps nothing. */
export function recentSearches(kind: RecentKind = 'searches'): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key(kind)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
  } catch {
    // Storage is switched off, or somebody else wrote there.
    return [];
  }
}

/** Notes a search as the newest. */
export function noteSearch(text: string, kind: RecentKind = 'searches'): void {
  const others = recentSearches(kind).filter((one) => one !== text);
  try {
    localStorage.setItem(key(kind), JSON.stringify([text, ...others].slice(0, MAX_KEPT)));
  } catch {
    // Storage is full or switched off: nothing is remembered.
  }
}

/** Forgets the searches of everybody who used this browser. */
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
