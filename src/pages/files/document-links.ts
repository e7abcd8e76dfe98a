/**
 * Links of a rendered document to files beside it. Most documents have their page where the file is, and links stay; those
 * of an index page, or of an address with a final slash, are made absolute. A link to a table, film or dashboard leads to its page.
 * Existence is never checked: a link must not reveal it.
 */
import { decodePath, encodePath } from '../../base/paths.ts';
import type { Family } from '../../docroot/kind.ts';

interface LinkPlace {
  /** Percent-encoded, as asked for. */
  readonly path: string;
  readonly rel: string;
  /** For a file of this name. */
  readonly familyOf: (rel: string) => Family | 'dashboard' | null;
}

/** `markup` must come from the allow list. About 2 ms a MiB. */
export function resolveLinks(markup: string, { path, rel, familyOf }: LinkPlace): string {
  const fileFolder = folderOf(`/${encodePath(rel)}`);
  const isInPlace = sameFolder(folderOf(path), fileFolder);
  const resolved = (whole: string, attribute: string, value: string): string => {
    if (!isRelative(value)) return whole;
    const url = URL.parse(value.replaceAll('&amp;', '&'), `http://docroot${fileFolder}`);
    const segments = url === null ? null : decodePath(url.pathname);
    if (url === null || segments === null || segments.length === 0) return whole;
    const shown = shownAt(attribute, familyOf(segments.join('/')));
    if (shown === '' && isInPlace) return whole;
    const address = `${shown}${url.pathname}${url.search}${url.hash}`;
    return ` ${attribute}="${address.replaceAll('&', '&amp;').replaceAll('"', '%22')}"`;
  };
  // Inside tags only. The allow list escapes `>` in attributes.
  return markup.replace(/<(?:a|img) [^>]*>/g, (tag) =>
    tag.replace(/ (href|src)="([^"]*)"/g, resolved),
  );
}

/** An image can only be itself. */
function shownAt(attribute: string, family: ReturnType<LinkPlace['familyOf']>): string {
  if (attribute === 'src') return family === 'media' ? '/media' : '';
  return family === 'content' || family === null ? '' : '/ui';
}

function isRelative(value: string): boolean {
  return value !== '' && !/^(?:[a-z][a-z0-9+.-]*:|[/\\#?])/i.test(value);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function sameFolder(a: string, b: string): boolean {
  return a === b || decodePath(a)?.join('/') === decodePath(b)?.join('/');
}
