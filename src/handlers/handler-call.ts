/**
 * One request to a router and its answer.
 *
 * The time limit is for the head of the answer and restarts with each piece of the request body: a slow client is not
 * the handler's fault. The body of the answer may last for ever, as event streams do, and is read at the client's
 * pace.
 */
import { AppError } from '../base/errors.ts';
import { streamOfChunks } from '../base/scheduling/chunk-stream.ts';
import type { ChildProcess } from '../processes/child-process.ts';
import { HANDLER_HEADER, THROWN_HEADER, type Thrown } from './host-protocol.ts';

const SHORT_BYTES = 64 * 1024;

export interface HandlerRequest {
  readonly rel: string;
  readonly method: string;
  /** As the router sees them: `/items?x=1`. */
  readonly target: string;
  /** With `Host`; without headers that are not for the handler. */
  readonly headers: Headers;
  /** Read at the router's pace; its exceptions reach the caller. Null: no body. */
  readonly body: Uint8Array | AsyncGenerator<Uint8Array> | null;
  readonly signal: AbortSignal;
}

interface CallWatcher {
  /** The head was sent, more follows. */
  onStream(): void;
  onEnd(): void;
  onTimeout(): void;
}

/**
 * Throws `timed-out` (no head within `timeoutMs`), `handler-failed` (the process ended or the connection broke), a
 * plain Error for an exception in a route, what the body throws, `bad-request` when the client disconnected.
 */
export async function callRouter(
  child: ChildProcess,
  request: HandlerRequest,
  timeoutMs: number,
  watcher: CallWatcher,
): Promise<Response> {
  const { signal } = request;
  const connection = new AbortController();
  const cut = (reason: unknown): void => connection.abort(reason);
  const limit = new HeadLimit(timeoutMs, () => {
    cut(new AppError('timed-out', 'Handler timed out'));
    watcher.onTimeout();
  });
  const onAbort = (): void => cut(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const end = once(() => {
    signal.removeEventListener('abort', onAbort);
    watcher.onEnd();
  });
  try {
    signal.throwIfAborted();
    const response = await child.fetch(request.target, {
      method: request.method,
      headers: addressed(request),
      body: outgoingBody(request.body, limit, cut) as Bun.BodyInit | null,
      signal: connection.signal,
    });
    limit.clear();
    if (response.headers.has(THROWN_HEADER)) throw asError((await response.json()) as Thrown);
    return await answerOf(response, watcher, end);
  } catch (error) {
    end();
    // Errors of the router, the body and the limits take precedence; anything else is a broken connection.
    if (error instanceof RouteError) throw error.told;
    if (signal.aborted) throw new AppError('bad-request', 'The client went away', { cause: error });
    if (connection.signal.aborted) throw connection.signal.reason;
    throw new AppError('handler-failed', 'Handler failed', { cause: error });
  } finally {
    limit.clear();
  }
}

class HeadLimit {
  readonly #timeoutMs: number;
  readonly #onLate: () => void;
  #timer: Timer | undefined;

  constructor(timeoutMs: number, onLate: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onLate = onLate;
    this.restart();
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onLate, this.#timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Passes the catch for broken connections. */
class RouteError extends Error {
  constructor(readonly told: Error) {
    super(told.message);
  }
}

function asError({ message, stack }: Thrown): RouteError {
  const error = new Error(message);
  error.stack = stack;
  return new RouteError(error);
}

function addressed({ headers, rel }: HandlerRequest): Headers {
  headers.set(HANDLER_HEADER, encodeURIComponent(rel));
  return headers;
}

function outgoingBody(
  body: HandlerRequest['body'],
  limit: HeadLimit,
  cut: (reason: unknown) => void,
): Uint8Array | ReadableStream<Uint8Array> | null {
  if (body === null || body instanceof Uint8Array) return body;
  const next = async () => {
    try {
      const piece = await body.next();
      limit.restart();
      return piece;
    } catch (error) {
      cut(error);
      throw error;
    }
  };
  return streamOfChunks({ next }, (left) => left && body.return(undefined));
}

async function answerOf(
  response: Response,
  watcher: CallWatcher,
  end: () => void,
): Promise<Response> {
  const { status, headers, body } = response;
  if (body === null) {
    end();
    return new Response(null, { status, headers });
  }
  const length = headers.get('content-length');
  if (length !== null && Number(length) <= SHORT_BYTES) {
    const bytes = await response.bytes();
    end();
    return new Response(bytes, { status, headers });
  }
  watcher.onStream();
  return new Response(passedOn(body, end), { status, headers });
}

function passedOn(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return streamOfChunks({ next: () => reader.read() }, (left) => {
    end();
    return left && reader.cancel(left.reason);
  });
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
