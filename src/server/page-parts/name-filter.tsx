/**
 * The box that shows fewer lines of a page while one types: of the start page, of the pictures, of the operations.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

/** The box with its label; the form around it asks for the page with `filter`. */
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
