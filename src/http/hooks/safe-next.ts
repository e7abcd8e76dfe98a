/**
 * Where to go after signing in: only ever a page of this site.
 */

const ELSEWHERE = '/';
/** Stands for the own origin; the rule does not depend on which one that is. */
const ANY_ORIGIN = 'http://own.invalid';

/** The path and query to go to; `/` for nothing and for everything that is not safe. */
export function safeNext(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(next)) return ELSEWHERE;
  if (!URL.canParse(next, ANY_ORIGIN)) return ELSEWHERE;
  const url = new URL(next, ANY_ORIGIN);
  if (url.origin !== ANY_ORIGIN) return ELSEWHERE;
  // As a browser will resolve it, and in the characters a header may hold. `/.//x` resolves to `//x`.
  const resolved = url.pathname + url.search + url.hash;
  return resolved.startsWith('//') ? ELSEWHERE : resolved;
}
