/**
 * Room for the pictures of a document, so that its text does not move when they come.
 */
import { decodePath } from '../base/paths.ts';
import type { PictureSize } from '../docroot/kind.ts';

const PICTURE = /<img [^>]*>/g;

/**
 * The markup with width and height at each picture of this server that has none and whose size is known. `markup` must have come
 * through the allow list, which writes attributes in one way only; `path` is that of the page, percent-encoded.
 */
export async function withPictureSizes(
  markup: string,
  path: string,
  sizesOf: (names: readonly string[]) => Promise<ReadonlyMap<string, PictureSize>>,
): Promise<string> {
  const names = new Set<string>();
  for (const [tag] of markup.matchAll(PICTURE)) {
    const name = nameIn(tag, path);
    if (name !== null) names.add(name);
  }
  if (names.size === 0) return markup;
  const sizes = await sizesOf([...names]);
  return markup.replace(PICTURE, (tag) => {
    const size = sizes.get(nameIn(tag, path) ?? '');
    if (size === undefined) return tag;
    return `<img width="${size.width}" height="${size.height}" ${tag.slice('<img '.length)}`;
  });
}

/** The file that a picture without a size shows; null where it is not one of this server. */
function nameIn(tag: string, path: string): string | null {
  if (/ (?:width|height)="/.test(tag)) return null;
  const src = / src="([^"]*)"/.exec(tag)?.[1];
  if (src === undefined || src === '') return null;
  const url = URL.parse(src.replaceAll('&amp;', '&'), `http://docroot${path}`);
  if (url === null || url.host !== 'docroot' || url.protocol !== 'http:') return null;
  return decodePath(url.pathname)?.join('/') ?? null;
}
