/** What search indexes of an HTML page: title and visible text, as one document. */
import type { FileSource } from '../../src/base/files/file-source.ts';
import { readMarkup } from '../../src/base/text/markup-text.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import { readText } from '../../src/base/text/text-bytes.ts';
import type { DocumentOrder, SearchSection } from '../../src/docroot/kind.ts';

/** Titled by the page's title, else the file's name. */
export async function htmlSections(
  source: FileSource,
  { rel, maxBytes }: DocumentOrder,
): Promise<SearchSection[]> {
  const { title, sections } = await readMarkup(await readText(source, maxBytes));
  const text = sections
    .flatMap(({ heading, text: below }) => (heading === null ? [below] : [heading.text, below]))
    .join(' ')
    .trim();
  return [{ title: title ?? fileNameOf(stemOf(rel)), anchor: null, text }];
}
