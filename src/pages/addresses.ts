/**
 * The way from the start page to a resource, folder by folder, as the frame shows it.
 */
import type { Crumb } from './views/frame.tsx';

/** The start page's list cut down to a folder; `''` is the whole list. */
export function folderAddress(path: string): string {
  return path === '' ? '/' : `/?folder=${encodeURIComponent(path).replaceAll('%2F', '/')}`;
}

/** The folders a name lies in, outermost first, behind the start page. */
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
