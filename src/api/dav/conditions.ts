/** Headers of WebDAV: `Depth`, `Destination`, `Timeout`, `If` (RFC 4918, 10). */
import { AppError } from '../../base/errors.ts';
import { decodePath } from '../../base/paths.ts';
import type { Context } from '../../http/context.ts';

export type Depth = 0 | 1 | 'infinity';

/** Throws `bad-request`. */
export function depthOf({ request }: Context): Depth {
  const text = request.headers.get('depth')?.trim().toLowerCase() ?? 'infinity';
  if (text === '0') return 0;
  if (text === '1') return 1;
  if (text === 'infinity') return 'infinity';
  throw new AppError('bad-request', 'Depth is 0, 1 or infinity');
}

/** Of an address below `/dav` on this server; null for any other. */
function pathOfAddress(context: Context, address: string): string | null {
  let path = address;
  if (!address.startsWith('/')) {
    const url = URL.parse(address);
    if (url === null || !context.ownOrigins.includes(url.origin)) return null;
    // As it was written: the parsed one resolves dots.
    path = address.slice(address.indexOf('/', address.indexOf('//') + 2));
  }
  const { basePath } = context.server;
  if (basePath !== '' && path.startsWith(`${basePath}/`)) path = path.slice(basePath.length);
  if (/[?#]/.test(path)) return null;
  const segments = decodePath(path);
  return segments?.[0] === 'dav' ? segments.slice(1).join('/') : null;
}

/** Throws `bad-request` without one, and `bad-gateway` for another server. */
export function destinationOf(context: Context): string {
  const address = context.request.headers.get('destination');
  if (address === null) throw new AppError('bad-request', 'Destination is missing');
  const path = pathOfAddress(context, address.trim());
  if (path === null || path === '') {
    throw new AppError('bad-gateway', 'Destination is no address below /dav on this server');
  }
  return path;
}

/** Wanted seconds; the first that can be read. Null: nothing is wanted. */
export function timeoutOf({ request }: Context, most: number): number {
  for (const wish of (request.headers.get('timeout') ?? '').split(',')) {
    const found = /^\s*second-(\d{1,12})\s*$/i.exec(wish);
    if (found !== null) return Math.max(1, Math.min(most, Number(found[1])));
    if (/^\s*infinite\s*$/i.test(wish)) return most;
  }
  return Math.min(most, DEFAULT_SECONDS);
}

const DEFAULT_SECONDS = 600;

interface Condition {
  readonly isNot: boolean;
  readonly token: string | null;
  readonly etag: string | null;
}

interface IfList {
  /** Null: that of the request. */
  readonly path: string | null;
  readonly conditions: readonly Condition[];
}

const MAX_IF_CHARACTERS = 8_192;

export class IfHeader {
  readonly #lists: readonly IfList[];
  /** All that were named, as state they hold or not. */
  readonly tokens: ReadonlySet<string>;

  private constructor(lists: readonly IfList[]) {
    this.#lists = lists;
    const tokens = lists.flatMap(({ conditions }) =>
      conditions.flatMap(({ token }) => (token === null ? [] : [token])),
    );
    this.tokens = new Set(tokens);
  }

  /** Throws `bad-request`. */
  static of(context: Context): IfHeader {
    const text = context.request.headers.get('if') ?? '';
    if (text.length > MAX_IF_CHARACTERS) throw unreadable();
    const lists: IfList[] = [];
    let path: string | null = null;
    let isTagUnused = false;
    for (let rest = text.trim(); rest !== '';) {
      const tagged = /^<([^>]*)>\s*/.exec(rest);
      if (tagged !== null) {
        path = pathOfAddress(context, tagged[1]!) ?? '\0';
        isTagUnused = true;
        rest = rest.slice(tagged[0].length);
        continue;
      }
      const list = /^\(((?:[^()"<]|"[^"]*"|<[^>]*>)*)\)\s*/.exec(rest);
      if (list === null) throw unreadable();
      isTagUnused = false;
      lists.push({ path, conditions: conditionsOf(list[1]!) });
      rest = rest.slice(list[0].length);
    }
    if (isTagUnused) throw unreadable();
    return new IfHeader(lists);
  }

  get isEmpty(): boolean {
    return this.#lists.length === 0;
  }

  /** The first token: which lock is to be refreshed. */
  get first(): string | null {
    return this.tokens.values().next().value ?? null;
  }

  /** One list holds. Null as path is that of the request. */
  async holds(
    isLocked: (token: string, path: string | null) => boolean,
    etagOf: (path: string | null) => Promise<string | null>,
  ): Promise<boolean> {
    for (const { path, conditions } of this.#lists) {
      let isMet = true;
      for (const { isNot, token, etag } of conditions) {
        const is = token === null ? (await etagOf(path)) === etag : isLocked(token, path);
        isMet &&= is !== isNot;
      }
      if (isMet) return true;
    }
    return this.#lists.length === 0;
  }
}

function conditionsOf(text: string): Condition[] {
  const conditions: Condition[] = [];
  for (let rest = text.trim(); rest !== '';) {
    const found = /^(not\s+)?(?:<([^>]*)>|\[(?:W\/)?"([^"]*)"\])\s*/i.exec(rest);
    if (found === null) throw unreadable();
    const [whole, not, token = null, etag = null] = found;
    conditions.push({ isNot: not !== undefined, token, etag: etag?.replace(/-gz$/, '') ?? null });
    rest = rest.slice(whole.length);
  }
  if (conditions.length === 0) throw unreadable();
  return conditions;
}

function unreadable(): AppError {
  return new AppError('bad-request', 'The If header cannot be read (RFC 4918, 10.4)');
}
