/**
 * A number on a page.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

/** With script in the reader's way of writing. */
export function Count({ value }: { value: number }) {
  return (
    <data class="count" value={String(value)} safe>
      {String(value)}
    </data>
  );
}
