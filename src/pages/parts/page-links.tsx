/** @jsxImportSource @kitajs/html */

interface PageLinksProps {
  readonly previousHref: string | null;
  readonly nextHref: string | null;
}

/** Nothing for a list of one page. */
export function PageLinks({ previousHref, nextHref }: PageLinksProps): JSX.Element {
  if (previousHref === null && nextHref === null) return '';
  return (
    <nav class="paging" aria-label="Pages">
      {previousHref !== null && (
        <a class="button quiet" rel="prev" href={previousHref}>
          Previous
        </a>
      )}
      {nextHref !== null && (
        <a class="button quiet" rel="next" href={nextHref}>
          Next
        </a>
      )}
    </nav>
  );
}
