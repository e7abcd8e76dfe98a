/** @jsxImportSource @kitajs/html */
/**
 * A box that filters the lines of a page while the reader types.
 */

/** The form around it asks for the page with `filter`. */
export function NameFilter({
  value,
  label = 'Show names containing',
  placeholder = 'Filter by name',
}: {
  value: string;
  label?: string;
  placeholder?: string;
}) {
  return (
    <label>
      <span class="visually-hidden" safe>
        {label}
      </span>
      <input
        type="search"
        name="filter"
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck="false"
        data-key="f"
      />
    </label>
  );
}
