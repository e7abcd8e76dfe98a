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
