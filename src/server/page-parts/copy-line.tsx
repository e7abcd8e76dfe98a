/**
 * A line for a terminal, to be copied: by a button where there is script, by hand without.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

/** The text in a box with its button. */
export function CopyLine({ text }: { text: string }) {
  return (
    <div class="copy-line">
      <pre tabindex="0">
        <code safe>{text}</code>
      </pre>
      <button type="button" class="quiet small" data-copy="text" data-text={text}>
        Copy
      </button>
    </div>
  );
}
