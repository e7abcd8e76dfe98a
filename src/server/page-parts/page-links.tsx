/**
 * Links to the page of a list before this one, and to the one after it.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */

interface PageLinksProps {
  /** Null on the first page. */
  readonly previousHref: string | null;
  /** Null on the last page. */
  readonly nextHref: string | null;
}

/** The links; nothing for a list of one page. */
export function PageLinks({ previousHref, nextHref }: PageLinksProps): JSX.Element {
  if (previousHref === null && nextHref === null) return '';
  return (
    <nav class="paging" aria-label="Pages">
      {previousHref === null ? (
        ''
      ) : (
        <a class="button quiet" rel="prev" href={previousHref}>
          Previous
        </a>
      )}
      {nextHref === null ? (
        ''
      ) : (
        <a class="button quiet" rel="next" href={nextHref}>
          Next
        </a>
      )}
    </nav>
  );
}
