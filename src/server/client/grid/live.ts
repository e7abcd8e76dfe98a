/**
 * Notices when the file changes: asks for the version now and then while the page is in sight. An answer without news has no
 * body and costs the server next to nothing.
 */
import { versionOf } from './rows.ts';

interface LiveOptions {
  readonly api: string;
  /** Version the page shows; `''` while it is changing it itself. */
  version(): string;
  changed(): void;
  /** The file or the server is out of reach; told once. `status` is 0 without an answer. */
  lost(status: number): void;
  /** It is in reach; told with every look that finds it. */
  found(): void;
}

const INTERVAL_MS = 4_000;

/** Starts watching; never ends while the page is open. */
export function watchFile({ api, version, changed, lost, found }: LiveOptions): void {
  let tag: string | null = null;
  let isLost = false;
  const tell = (status: number): void => {
    if (isLost) return;
    isLost = true;
    lost(status);
  };
  const look = async (): Promise<void> => {
    const before = version();
    if (document.visibilityState !== 'visible' || (before === '' && !isLost)) return;
    try {
      const response = await fetch(`${api}?limit=1`, {
        method: 'HEAD',
        cache: 'no-store',
        headers: { Accept: 'application/json', ...(tag !== null && { 'If-None-Match': tag }) },
      });
      if (!response.ok && response.status !== 304) return tell(response.status);
      isLost = false;
      found();
      tag = response.headers.get('ETag') ?? tag;
      const present = versionOf(response);
      if (present !== '' && before !== '' && version() === before && present !== before) changed();
    } catch {
      tell(0);
    }
  };
  setInterval(() => void look(), INTERVAL_MS);
  document.addEventListener('visibilitychange', () => void look());
}
