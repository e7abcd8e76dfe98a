/**
 * New events as they arrive. After a lost connection or a server restart it resumes after the last
 * event received, so none is missed or repeated.
 */

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

export class EventStream {
  readonly #query: string;
  readonly #reader: StreamReader;
  #source: EventSource | null = null;
  /** Id of the last event received, or of the newest when the stream was opened; null: unknown. */
  #lastId: number | null = null;
  #lostAt: number | null = null;
  #timer = 0;
  #isClosed = false;
  /** The server ends each stream after a while; that is no lost connection. */
  #hasEnded = false;

  constructor(query: string, reader: StreamReader) {
    this.#query = query;
    this.#reader = reader;
  }

  async open(): Promise<void> {
    this.#lastId = await newestId();
    if (!this.#isClosed) this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    window.clearTimeout(this.#timer);
    this.#source?.close();
  }

  #connect(): void {
    this.#source?.close();
    const source = new EventSource(this.#address());
    this.#source = source;
    source.addEventListener('event', ({ data, lastEventId }: MessageEvent<string>) => {
      const id = Number(lastEventId);
      if (this.#lastId !== null && id <= this.#lastId) return;
      this.#lastId = id;
      this.#reader.take(JSON.parse(data));
    });
    source.addEventListener('dropped', ({ data }: MessageEvent<string>) => {
      this.#reader.dropped((JSON.parse(data) as { readonly count: number }).count);
    });
    source.addEventListener('gap', ({ data }: MessageEvent<string>) => {
      const { from, to } = JSON.parse(data) as Readonly<Record<'from' | 'to', number>>;
      this.#reader.leftOut(Math.max(0, to - from + 1));
    });
    source.addEventListener('end', () => {
      this.#hasEnded = true;
    });
    source.addEventListener('open', () => this.#noteOpen());
    source.addEventListener('error', () => this.#noteLoss(source));
  }

  #address(): string {
    const query = new URLSearchParams(this.#query === '' ? {} : { query: this.#query });
    // A browser that reconnects by itself sends Last-Event-ID, which takes precedence over this
    // parameter.
    if (this.#lastId !== null) query.set('last_event_id', String(this.#lastId));
    return `/api/events/tail${query.size === 0 ? '' : `?${query}`}`;
  }

  #noteOpen(): void {
    const lostMs = this.#lostAt === null ? null : Date.now() - this.#lostAt;
    this.#lostAt = null;
    this.#hasEnded = false;
    this.#reader.opened(lostMs);
  }

  #noteLoss(source: EventSource): void {
    if (!this.#hasEnded && this.#lostAt === null) {
      this.#lostAt = Date.now();
      this.#reader.lost();
    }
    if (source.readyState === EventSource.CLOSED) void this.#ask();
  }

  /**
   * EventSource hides the reason of a failure: a plain request gets it, or finds the server back.
   */
  async #ask(): Promise<void> {
    const told = new AbortController();
    let reason: string | null = null;
    try {
      const response = await fetch(this.#address(), { signal: told.signal });
      if (response.status >= 400 && response.status < 500) reason = await reasonOf(response);
    } catch {
      // No connection at all: tried again below.
    }
    told.abort();
    if (this.#isClosed) return;
    if (reason === null) this.#timer = window.setTimeout(() => this.#connect(), RETRY_MS);
    else this.#reader.refused(reason);
  }
}

async function reasonOf(response: Response): Promise<string> {
  const answer = (await response.json()) as Record<string, unknown>;
  return String(answer['detail'] ?? answer['error'] ?? `The server answers ${response.status}.`);
}

/**
 * Newest event the reader may read, 0 for none; null when unknown: the stream then starts at its
 * connection.
 */
async function newestId(): Promise<number | null> {
  try {
    const response = await fetch('/api/events/?ordering=-id&limit=1', {
      headers: { Accept: 'application/json' },
    });
    if (!response.ok) return null;
    const [newest] = (await response.json()) as { readonly id: number }[];
    return newest?.id ?? 0;
  } catch {
    return null;
  }
}
