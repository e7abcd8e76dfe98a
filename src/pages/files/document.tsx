/** @jsxImportSource @kitajs/html */
import type { OutlineEntry, RenderedDocument } from '../../docroot/kind.ts';
import { Article } from '../parts/article.tsx';
import { UtcTime } from '../parts/values.tsx';
import { trailTo } from '../addresses.ts';
import type { Page } from '../frame.tsx';

interface DocumentView extends RenderedDocument {
  /** Null for who may not write it. */
  readonly editHref: string | null;
  readonly title: string;
  readonly rel: string;
  readonly changedAt: string;
  /** Shown instead of the rendered page; null: rendered. */
  readonly source: string | null;
  /** Null for those who may not write it. */
  readonly historyHref: string | null;
}

export const documentPage: Page<DocumentView> = {
  name: 'document',
  layout: 'wide',
  title: ({ title }) => title,
  hasOwnHeading: ({ hasHeading, source }) => hasHeading && source === null,
  styles: ['document.css'],
  trail: ({ rel }) => trailTo(rel),
  shares: ({ rel }) => rel,
  content: (view) => (
    <div class="document">
      <Place view={view} />
      {view.source === null ? (
        <Article body={view.body} facts={view.facts} outline={headingsOf(view)} />
      ) : (
        <pre class="source" tabindex="0">
          <code safe>{view.source}</code>
        </pre>
      )}
    </div>
  ),
};

function Place({
  view: { rel, changedAt, source, historyHref, editHref },
}: {
  view: DocumentView;
}) {
  return (
    <p class="fine place">
      <span>
        <span safe>{rel.split('/').at(-1) ?? ''}</span>
        {' · last changed '}
        <UtcTime at={changedAt} />
      </span>
      <span class="views">
        <a href="?" aria-current={source === null ? 'true' : undefined}>
          Page
        </a>
        <a href="?source=true" aria-current={source === null ? undefined : 'true'}>
          Source
        </a>
      </span>
      {editHref !== null && <a href={editHref}>Edit</a>}
      <a href="?download=true" download="">
        Download
      </a>
      {historyHref !== null && <a href={historyHref}>History</a>}
    </p>
  );
}

/** Without the heading that the outline is listed under. */
function headingsOf({ outline, hasHeading }: DocumentView): OutlineEntry[] {
  return outline.slice(hasHeading ? 1 : 0).filter(({ level }) => level <= 3);
}
