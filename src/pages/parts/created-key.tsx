/** @jsxImportSource @kitajs/html */
/**
 * A new API key. Its value is never shown again.
 */

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
