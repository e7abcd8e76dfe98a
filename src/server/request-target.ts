/**
 * Path and query of a request, without `new URL` (DS-5).
 *
 * Bun hands out a URL that is already normalised: `/a/../b` comes as `/b`, `/a/%2e/b` as `/a/b`. Such a path must match
 * nothing, so the shape of the path as it was sent is learnt from Bun's router and compared (see raw-paths.ts).
 */
import { decodePath } from '../base/paths.ts';
import type { PathShape } from './raw-paths.ts';
import { hasShape } from './raw-paths.ts';

/** Path and query of a request. */
export interface RequestTarget {
  /** From the first slash to the query, percent-encoded. */
  readonly path: string;
  /** With its `?`; `''` when there is none. */
  readonly search: string;
  readonly segments: readonly string[];
  /** False when the path can match nothing. */
  readonly isMatchable: boolean;
}

/**
 * The target in `request.url`, which is relative when the `Host` header was malformed. `shape` null: not known, the path
 * is taken as it is.
 */
export function requestTarget(url: string, shape: PathShape | null): RequestTarget {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  // A fragment has no business in a request (RFC 9112, 3.2) and would hide the rest of the path.
  const hash = url.indexOf('#');
  const end = hash < 0 ? url.length : hash;
  const question = url.indexOf('?');
  const pathEnd = question < 0 || question > end ? end : question;
  const path = start < 0 || start > pathEnd ? '/' : url.slice(start, pathEnd);
  const isAsSent = hash < 0 && start >= 0 && (shape === null || hasShape(path, shape));
  return new Target(path, url.slice(pathEnd, end), isAsSent);
}

/** Decodes when asked: built-in routes are found by the path's text alone. */
class Target implements RequestTarget {
  #decoded: readonly string[] | null | undefined = undefined;

  constructor(
    readonly path: string,
    readonly search: string,
    private readonly isAsSent: boolean,
  ) {}

  get isMatchable(): boolean {
    return this.isAsSent && this.#matchable !== null;
  }

  get segments(): readonly string[] {
    return this.#matchable ?? guess(this.path);
  }

  get #matchable(): readonly string[] | null {
    if (this.#decoded === undefined) this.#decoded = decodePath(this.path);
    return this.#decoded;
  }
}

/** For texts that name what was asked for. */
function guess(path: string): string[] {
  const trimmed = path.replace(/^\//, '').replace(/\/$/, '');
  try {
    return decodeURIComponent(trimmed).split('/');
  } catch {
    // Malformed percent encoding: shown as it was typed.
    return trimmed.split('/');
  }
}
