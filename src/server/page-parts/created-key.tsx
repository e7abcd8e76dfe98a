/**
 * An API key that was just made: the only time its value is shown.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

/** The value, ready to be copied. */
export function CreatedKey({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <section class="notice">
      <label>
        <span safe>{label}</span>
        <input class="code" {...{ value }} readonly data-select />
      </label>
      <p class="fine">
        Copy it now: it is not shown again. Programs send it in the header <code>X-API-Key</code>.
      </p>
    </section>
  );
}
