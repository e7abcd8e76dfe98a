import { encodePath } from '../base/paths.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import type { Crumb } from './frame.tsx';

/** `''` is the whole list. A file that has the address of a folder keeps it: `isTaken`. */
export function folderAddress(path: string, isTaken = false): string {
  if (path === '') return '/';
  // The gallery.
  if (!isTaken && path !== 'media') return `/ui/${encodePath(path)}/`;
  return `/?folder=${encodeURIComponent(path).replaceAll('%2F', '/')}`;
}

/** Outermost first, after the start page. */
export function trailTo(name: string): Crumb[] {
  const folders = name.split('/').slice(0, -1);
  return [
    { label: 'Resources', href: '/' },
    ...folders.map((label, index) => ({
      label,
      href: folderAddress(folders.slice(0, index + 1).join('/')),
    })),
  ];
}

/** Empty and 0 are left out. */
export function addressWith(
  path: string,
  parameters: Readonly<Record<string, string | number>>,
): string {
  const query = queryWith(parameters);
  if (query.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

export function queryWith(parameters: Readonly<Record<string, string | number>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== '' && value !== 0) query.set(name, String(value));
  }
  return query;
}

/** How messages call a dataset: `products.csv`, `stock.xlsx (Prices)`. */
export function datasetTitle({ rel, sheet }: Pick<Resource, 'rel' | 'sheet'>): string {
  const file = rel.slice(rel.lastIndexOf('/') + 1);
  return sheet === null ? file : `${file} (${sheet})`;
}
