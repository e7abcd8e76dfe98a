/**
 * A number of bytes on a page.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { sizeText } from '../../base/size-text.ts';

/** `1.5 MiB`, with script in the reader's way of writing numbers. */
export function Size({ bytes }: { bytes: number }) {
  return (
    <data class="size" value={String(bytes)} safe>
      {sizeText(bytes)}
    </data>
  );
}
