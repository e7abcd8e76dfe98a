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
  /** The file can no longer be read; told once. */
  lost(message: string): void;
}

const INTERVAL_MS = 4_000;

/** Starts watching; never ends while the page is open. */
export function watchFile({ api, version, changed, lost }: LiveOptions): void {
  let tag: string | null = null;
  let isLost = false;
  const look = async (): Promise<void> => {
    const before = version();
    if (document.visibilityState !== 'visible' || before === '') return;
    try {
      const response = await fetch(`${api}?limit=1`, {
        method: 'HEAD',
        cache: 'no-store',
        headers: { Accept: 'application/json', ...(tag !== null && { 'If-None-Match': tag }) },
      });
      if (response.ok || response.status === 304) {
        isLost = false;
        tag = response.headers.get('ETag') ?? tag;
        const present = versionOf(response);
        if (present !== '' && version() === before && present !== before) changed();
      } else if (!isLost) {
        isLost = true;
        lost(
          response.status === 401
            ? 'You are signed out. Sign in again in another tab to go on.'
            : 'The file cannot be read any more.',
        );
      }
    } catch {
      // Away for a moment; the next look tells.
    }
  };
  setInterval(() => void look(), INTERVAL_MS);
  document.addEventListener('visibilitychange', () => void look());
}
