/** @jsxImportSource @kitajs/html */
/**
 * A line for a terminal with a copy button, which script shows.
 */

export function CopyLine({ text }: { text: string }) {
  return (
    <div class="copy-line">
      <pre tabindex="0">
        <code safe>{text}</code>
      </pre>
      <button type="button" class="quiet small" data-copy="before">
        Copy
      </button>
    </div>
  );
}
