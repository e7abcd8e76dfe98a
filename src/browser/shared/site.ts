/** Where the site begins: `''`, or a path without a slash at its end, when it shares its host with others. */
export const BASE = document.documentElement.dataset['base'] ?? '';

/** An address of this site, which may be written from the site's own root. */
export function onSite(address: string): string {
  const isDone = address === BASE || address.startsWith(`${BASE}/`);
  return BASE === '' || isDone || !/^\/(?!\/)/.test(address) ? address : BASE + address;
}
