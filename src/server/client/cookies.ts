/**
 * The cookies that scripts may read.
 */

/** Value of a cookie; `''` when there is none. */
export function cookie(name: string): string {
  const found = document.cookie.split('; ').find((entry) => entry.startsWith(`${name}=`));
  return found === undefined ? '' : decodeURIComponent(found.slice(name.length + 1));
}

/** Headers that let a request of this page change something (DS-113). */
export function csrfHeaders(): Record<string, string> {
  return { 'X-CSRF-Token': cookie('svc_csrf') };
}
