/**
 * New events as they come in, through lost connections and restarts of the server: it goes on behind the last one that came, so
 * that none is missed and none comes twice (EV-78).
 */

/** After an answer that says nothing about us, such as that of a server that is starting. */
const RETRY_MS = 1_000;

/** What becomes of a stream. */
interface StreamReader {
  /** An event as the service writes it. */
  take(event: unknown): void;
  /** That many came faster than they could be sent. */
  dropped(count: number): void;
  /** The connection is there, for the first time (null) or again after so many ms; what was missed comes now. */
  opened(lostMs: number | null): void;
  /** It was away for so long that only the newest come; of so many before them none, whether they match or not. */
  leftOut(most: number): void;
  /** The connection is gone, and will be tried again. */
  lost(): void;
  /** The server will not go on, for a reason that is told. */
  refused(reason: string): void;
}

/** The events of a query, from the moment it is opened. */
export class EventStream {
  readonly #query: string;
  readonly #reader: StreamReader;
  #source: EventSource | null = null;
  /** Of the last event that came, or the last there was before; null: not known. */
  #lastId: number | null = null;
  #lostAt: number | null = null;
  #timer = 0;
  #isClosed = false;
  /** The server ends each stream after a while; that is no loss. */
  #hasEnded = false;

  /** `query` chooses among the events, `''`: all. */
  constructor(query: string, reader: StreamReader) {
    this.#query = query;
    this.#reader = reader;
  }

  /** Begins; what is stored from now on will come. */
  async open(): Promise<void> {
    this.#lastId = await newestId();
    if (!this.#isClosed) this.#connect();
  }

  /** Nothing comes any more. */
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
    // A browser that connects again by itself sends the id of the last event, which counts before this one.
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

  /** The browser gave up: asked as a plain request, the server says why, or is there again. */
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

/** Of all the reader may read, 0 for none; null when that cannot be had: the stream begins with its connection then. */
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
