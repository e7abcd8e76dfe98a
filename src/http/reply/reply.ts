/**
 * What a handler answers, as plain data. `respond.ts` adds what every response has: security headers, cookies,
 * conditional answers, compression.
 */

/** Pieces of a body as they are made; text is UTF-8. Asked for no faster than the client takes them. */
export type BodyStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

export interface Reply {
  readonly status: number;
  /** Without the ones every response has. `Cache-Control` given here wins over that of the route. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none; for a HEAD with a `Content-Type`, one that was not made. */
  readonly body: string | Uint8Array | BodyStream | null;
  /**
   * Strong entity tag without quotes and `-gz`. A GET or HEAD whose `If-None-Match` names it is answered 304 and
   * the body dropped; to spare making it, ask `context.isNotModified` first.
   */
  readonly etag?: string;
  /** The same object answers many requests, each with the same cache rule, and never changes: its headers are kept. */
  readonly isKept?: boolean;
}

/** A `Response` goes out as it is but for the headers every response has. */
export type Answer = Reply | Response;

interface ReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly etag?: string;
}

/** A value as compact JSON. Integers past 2^53 must be in their text already: bigint throws. */
export function jsonReply(value: unknown, options: ReplyOptions = {}): Reply {
  return bodyReply(JSON.stringify(value), 'application/json', options);
}

export function htmlReply(markup: string, options: ReplyOptions = {}): Reply {
  return bodyReply(markup, 'text/html; charset=utf-8', options);
}

export function bodyReply(body: Reply['body'], type: string, options: ReplyOptions = {}): Reply {
  const { status = 200, headers, etag } = options;
  const contentType = { 'Content-Type': type };
  return {
    status,
    headers: headers === undefined ? contentType : { ...contentType, ...headers },
    body,
    etag,
  };
}

/** A status without a body: 204 unless said otherwise. */
export function emptyReply(status = 204, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: null };
}

/** Sends the client elsewhere; `location` is a path of this server, or an address the product made. */
export function redirectReply(location: string, status: 302 | 303 = 302): Reply {
  return emptyReply(status, { Location: location });
}
