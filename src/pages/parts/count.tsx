/** @jsxImportSource @kitajs/html */

/** With script in the number format of the reader. */
export function Count({ value }: { value: number }) {
  return (
    <data class="count" value={String(value)} safe>
      {String(value)}
    </data>
  );
}
