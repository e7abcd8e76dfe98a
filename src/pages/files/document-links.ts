/**
 * Links of a rendered document to files beside it.
 *
 * A browser resolves them against the address of the page, which for most documents stands where the file does: then they
 * stay as they are. Those of an index page, or of an address with a final slash, would lead elsewhere and are made absolute.
 * A link to a table or a film leads to the page that shows it. Existence is never asked: a link must not tell what there is.
 */
import { decodePath, encodePath } from '../../base/paths.ts';
import type { Family } from '../../docroot/kind.ts';

interface LinkPlace {
  /** Path of the page, percent-encoded, as it was asked for. */
  readonly path: string;
  /** The document's file. */
  readonly rel: string;
  /** Family of what a file of this name would be. */
  readonly familyOf: (rel: string) => Family | null;
}

/** Every link in what the allow list let pass; `markup` must have come through it. Takes about 2 ms a MiB. */
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
  // Only inside of tags: the same letters in the text are an example to read. The allow list escapes `>` in attributes.
  return markup.replace(/<(?:a|img) [^>]*>/g, (tag) =>
    tag.replace(/ (href|src)="([^"]*)"/g, resolved),
  );
}

/** The prefix under which a file of the family is shown to people; as an image it can only be itself. */
function shownAt(attribute: string, family: Family | null): string {
  if (attribute === 'src') return family === 'media' ? '/media' : '';
  return family === 'dataset' || family === 'media' ? '/ui' : '';
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
