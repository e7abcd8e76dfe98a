/**
 * Path and query of a request. Bun hands out a normalised URL: `/a/../b` comes as `/b`. Such a path must match nothing, so
 * the shape of the path as it was sent is learnt from Bun's router and compared (see server.ts).
 */
import { LINK_SECRET } from '../../accounts/rights/links.ts';
import { decodePath } from '../../base/paths.ts';

/** What the front of a link answers by. */
export const LINK_FRONT = '/_svc/link';

/** Segments before the first empty one, and whether an empty one (a trailing slash) follows. */
export interface PathShape {
  readonly segments: number;
  readonly isOpen: boolean;
}

/** Everything is computed on demand. */
export class RequestTarget {
  /** Percent-encoded. */
  readonly path: string;
  /** So its text may be compared. */
  readonly isAsSent: boolean;
  /** The proxy in front left in the path of `public_url`. */
  readonly isBelowBase: boolean;
  /** Of a path below `/s/<secret>`, which is stripped; null for any other. */
  readonly linkSecret: string | null;
  readonly #request: Request;
  #search: string | null = null;
  #decoded: readonly string[] | null | undefined = undefined;

  /** `known` null: the path is taken as it comes. `base` is stripped. */
  constructor(request: Request, known: PathShape | null, base = '') {
    this.#request = request;
    const { url } = request;
    const start = pathStart(url);
    const end = queryStart(url);
    const path = start < 0 || start >= end ? '/' : url.slice(start, end);
    // A fragment must not stand in a request (RFC 9112, 3.2) and would hide the rest of the path. `//x/..` comes as `//`:
    // no native route has an empty first segment, so its shape is unknown.
    const isWhole = start >= 0 && !url.includes('#') && !path.startsWith('//');
    this.isAsSent = isWhole && (known === null || hasShape(path, known));
    this.isBelowBase = base !== '' && (path === base || path.startsWith(`${base}/`));
    const own = this.isBelowBase ? path.slice(base.length) || '/' : path;
    this.linkSecret = linkSecretOf(own);
    this.path = this.linkSecret === null ? own : pathWithin(own, this.linkSecret);
  }

  /** With its `?`; `''` without one. */
  get search(): string {
    if (this.#search === null) {
      const { url } = this.#request;
      const hash = url.indexOf('#');
      this.#search = url.slice(queryStart(url), hash < 0 ? url.length : hash);
    }
    return this.#search;
  }

  /** False when the path can match nothing. */
  get isMatchable(): boolean {
    return this.isAsSent && this.#matchable !== null;
  }

  /** Decoded, without empty ends; a guess when the path can match nothing. */
  get segments(): readonly string[] {
    return this.#matchable ?? guess(this.path);
  }

  get #matchable(): readonly string[] | null {
    if (this.#decoded === undefined) this.#decoded = decodePath(this.path);
    return this.#decoded;
  }
}

const LINK_PREFIX = '/s/';

export function linkBase(secret: string): string {
  return LINK_PREFIX + secret;
}

function linkSecretOf(path: string): string | null {
  if (!path.startsWith(LINK_PREFIX)) return null;
  const end = path.indexOf('/', LINK_PREFIX.length);
  const secret = path.slice(LINK_PREFIX.length, end < 0 ? path.length : end);
  return LINK_SECRET.test(secret) ? secret : null;
}

function pathWithin(path: string, secret: string): string {
  const rest = path.slice(linkBase(secret).length);
  return rest === '' || rest === '/' ? LINK_FRONT : rest;
}

/** The URL is relative when the `Host` header was malformed. */
function pathStart(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
}

function queryStart(url: string): number {
  const hash = url.indexOf('#');
  const end = hash < 0 ? url.length : hash;
  const question = url.indexOf('?');
  return question < 0 || question > end ? end : question;
}

/** For messages. */
function guess(path: string): string[] {
  const trimmed = path.replace(/^\//, '').replace(/\/$/, '');
  try {
    return decodeURIComponent(trimmed).split('/');
  } catch {
    // Malformed percent encoding: as typed.
    return trimmed.split('/');
  }
}

export function hasShape(path: string, shape: PathShape): boolean {
  let segments = 0;
  let from = 1;
  for (;;) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    if (end === from) return shape.isOpen && segments === shape.segments;
    segments++;
    if (slash < 0) return !shape.isOpen && segments === shape.segments;
    from = slash + 1;
  }
}
