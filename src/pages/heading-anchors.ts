/**
 * A link to itself in every heading of a document that has an id.
 */

/** `markup` came through the allow list for documents, which writes attributes in one way only. */
export function withHeadingAnchors(markup: string): string {
  return markup.replace(
    /(<h([1-6]) id="([^"]+)">)([^]*?)(<\/h\2>)/g,
    (_, start: string, level: string, id: string, text: string, end: string) => {
      const href = encodeURIComponent(id.replaceAll('&amp;', '&'));
      if (/<a[\s>]/.test(text) || level === '1') return start + text + end;
      return `${start}${text}<a class="anchor" href="#${href}" aria-label="Link to this section"></a>${end}`;
    },
  );
}
