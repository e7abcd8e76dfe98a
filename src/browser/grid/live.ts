import { ask, Refused } from '../shared/ask.ts';
import { BASE } from '../shared/site.ts';
import { versionOf } from './table/rows.ts';

interface LiveOptions {
  readonly api: string;
  /** Who looks at the page; null: somebody who may not follow the feed. */
  readonly username: string | null;
  version(): string;
  /** `by`: the others who did it, as far as they are known. */
  changed(by: readonly string[]): void;
  /** File or server is unreachable; called once. `status` is 0 without a response. */
  lost(status: number): void;
  found(): void;
  /** Who else looks at it. */
  people(names: readonly string[]): void;
}

const INTERVAL_MS = 4_000;

/**
 * Asks for the version when the feed tells of a change, and now and then: a proxy may hold the feed back. A page that is not
 * seen follows nothing, because a browser opens few connections to a server.
 */
export function watchFile(options: LiveOptions): void {
  const { api, username, version, changed, lost, found, people } = options;
  let tag: string | null = null;
  let isLost = false;
  let feed: EventSource | null = null;
  const by = new Set<string>();
  const look = async (): Promise<void> => {
    const before = version();
    if (document.visibilityState !== 'visible' || (before === '' && !isLost)) return;
    try {
      const headers: Record<string, string> = tag === null ? {} : { 'If-None-Match': tag };
      const { headers: told } = await ask(`${api}?limit=1`, {
        method: 'HEAD',
        cache: 'no-store',
        headers,
      });
      isLost = false;
      found();
      tag = told.get('ETag') ?? tag;
      const present = versionOf(told);
      if (present === '' || before === '' || version() !== before) return;
      const names = [...by].sort();
      by.clear();
      if (present !== before) changed(names);
    } catch (error) {
      if (!isLost) lost(error instanceof Refused ? error.status : 0);
      isLost = true;
    }
  };
  const follow = (): void => {
    if (username === null) return;
    if (document.visibilityState !== 'visible') {
      feed?.close();
      feed = null;
      people([]);
    } else if (feed === null) {
      feed = new EventSource(`${BASE}${api}changes?people=1`);
      feed.addEventListener('change', ({ data }: MessageEvent<string>) => {
        const { user } = JSON.parse(data) as { readonly user: string | null };
        if (user !== null && user !== username) by.add(user);
        void look();
      });
      feed.addEventListener('people', ({ data }: MessageEvent<string>) =>
        people(JSON.parse(data) as string[]),
      );
      feed.addEventListener('error', () => people([]));
    }
  };
  follow();
  setInterval(() => void look(), INTERVAL_MS);
  document.addEventListener('visibilitychange', () => {
    follow();
    void look();
  });
}
