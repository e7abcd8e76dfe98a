import { ask, Refused } from '../shared/ask.ts';
import { versionOf } from './table/rows.ts';

interface LiveOptions {
  readonly api: string;
  version(): string;
  changed(): void;
  /** File or server is unreachable; called once. `status` is 0 without a response. */
  lost(status: number): void;
  found(): void;
}

const INTERVAL_MS = 4_000;

export function watchFile({ api, version, changed, lost, found }: LiveOptions): void {
  let tag: string | null = null;
  let isLost = false;
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
      if (present !== '' && before !== '' && version() === before && present !== before) changed();
    } catch (error) {
      if (!isLost) lost(error instanceof Refused ? error.status : 0);
      isLost = true;
    }
  };
  setInterval(() => void look(), INTERVAL_MS);
  document.addEventListener('visibilitychange', () => void look());
}
