/**
 * New events as they arrive. After a lost connection or a server restart it resumes after the last
 * event received, so none is missed or repeated.
 */
import { onSite } from '../shared/site.ts';
import { ask, askJson, Refused } from '../shared/ask.ts';

/**
 * Pause after a response that is not about this request, such as that of a server still starting.
 */
const RETRY_MS = 1_000;

interface StreamReader {
  take(event: unknown): void;
  /** Events dropped because they arrived faster than they could be sent. */
  dropped(count: number): void;
  /** Connected: first time (null) or again after so many ms. Missed events follow. */
  opened(lostMs: number | null): void;
  /** The gap was too long: up to `most` events are skipped, whether they match or not. */
  leftOut(most: number): void;
  lost(): void;
  /** The server refused for good. */
  refused(reason: string): void;
}

/** Returns a function that closes it. */
export function openStream(query: string, reader: StreamReader): () => void {
  let source: EventSource | null = null;
  /** Id of the last event received, or of the newest when the stream was opened; null: unknown. */
  let lastId: number | null = null;
  let lostAt: number | null = null;
  let timer = 0;
  let isClosed = false;
  /** The server ends each stream after a while; that is no lost connection. */
  let hasEnded = false;

  const address = (): string => {
    const parameters = new URLSearchParams(query === '' ? {} : { query });
    // A browser that reconnects by itself sends Last-Event-ID, which takes precedence over this
    // parameter.
    if (lastId !== null) parameters.set('last_event_id', String(lastId));
    return `/api/events/tail${parameters.size === 0 ? '' : `?${parameters}`}`;
  };
  const connect = (): void => {
    source?.close();
    const made = new EventSource(onSite(address()));
    source = made;
    const on = (type: string, take: (data: never, id: number) => void): void =>
      made.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) =>
        take(JSON.parse(data || 'null') as never, Number(lastEventId)),
      );
    on('event', (event, id) => {
      if (lastId !== null && id <= lastId) return;
      lastId = id;
      reader.take(event);
    });
    on('dropped', ({ count }: { count: number }) => reader.dropped(count));
    on('gap', ({ from, to }: Record<'from' | 'to', number>) =>
      reader.leftOut(Math.max(0, to - from + 1)),
    );
    made.addEventListener('end', () => (hasEnded = true));
    made.addEventListener('open', () => {
      const lostMs = lostAt === null ? null : Date.now() - lostAt;
      lostAt = null;
      hasEnded = false;
      reader.opened(lostMs);
    });
    made.addEventListener('error', () => {
      if (!hasEnded && lostAt === null) {
        lostAt = Date.now();
        reader.lost();
      }
      if (made.readyState === EventSource.CLOSED) void findReason();
    });
  };
  /** EventSource hides why it failed: a plain request gets it, or finds the server back. */
  const findReason = async (): Promise<void> => {
    const told = new AbortController();
    const init = { signal: told.signal, headers: { Accept: 'text/event-stream' } };
    const error = await ask(address(), init).catch((one: unknown) => one);
    told.abort();
    if (isClosed) return;
    const isRefusal = error instanceof Refused && error.isTold;
    if (isRefusal && error.status < 500) reader.refused(error.message);
    else timer = window.setTimeout(connect, RETRY_MS);
  };
  void newestId().then((id) => {
    lastId = id;
    if (!isClosed) connect();
  });
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  };
}

/**
 * Newest event the reader may read, 0 for none; null when unknown: the stream then starts at its
 * connection.
 */
async function newestId(): Promise<number | null> {
  const newest = askJson<{ readonly id: number }[]>('/api/events/?ordering=-id&limit=1');
  return newest.then(
    ([one]) => one?.id ?? 0,
    () => null,
  );
}
