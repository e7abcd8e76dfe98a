/** @jsxImportSource @kitajs/html */
import { sizeText } from '../../base/text/size-text.ts';

/** `1.5 MiB`; with script in the number format of the reader. */
export function Size({ bytes }: { bytes: number }) {
  return (
    <data class="size" value={String(bytes)} safe>
      {sizeText(bytes)}
    </data>
  );
}
