/** What a handler answers. `respond.ts` adds security headers, cookies, conditional answers and compression. */

/** Text is UTF-8. Pulled no faster than the client reads. */
export type BodyStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string>;

export interface Reply {
  readonly status: number;
  /** `Cache-Control` here wins over that of the route. */
  readonly headers: Readonly<Record<string, string>>;
  /** For a HEAD with a `Content-Type`, null means not made. */
  readonly body: string | Uint8Array | BodyStream | null;
  /**
   * Strong, without quotes and `-gz`. A GET or HEAD whose `If-None-Match` names it is answered 304; to avoid making the
   * body, ask `context.isNotModified` first.
   */
  readonly etag?: string;
  /** The same object answers many requests under one cache rule and never changes, so its headers are cached. */
  readonly isKept?: boolean;
}

/** A `Response` only gets the headers every response has. */
export type Answer = Reply | Response;

interface ReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly etag?: string;
}

/** Throws for bigint: integers past 2^53 must be text already. */
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

export function emptyReply(status = 204, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: null };
}

/** `location`: a path of this server, or an address the product made. */
export function redirectReply(location: string, status: 302 | 303 = 302): Reply {
  return emptyReply(status, { Location: location });
}
