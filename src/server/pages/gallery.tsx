/**
 * Everything to hear and see (DS-185), as cards.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Page } from './frame.tsx';

/** A media file as a card. */
export interface GalleryEntry {
  readonly name: string;
  /** Artist, length, size; what is known of them. */
  readonly detail: string;
  readonly isVideo: boolean;
  readonly href: string;
  /** Address of its cover; null without one. */
  readonly cover: string | null;
}

/** What the gallery shows. */
export interface GalleryView {
  readonly filter: string;
  /** Files that match the filter, on all pages. */
  readonly total: number;
  readonly entries: readonly GalleryEntry[];
  readonly previousHref: string | null;
  readonly nextHref: string | null;
}

/** The page of all media. */
export const galleryPage: Page<GalleryView> = {
  name: 'gallery',
  layout: 'wide',
  title: () => 'Media',
  content: (view) => (
    <>
      <form class="filter" method="get" action="/ui/media" role="search">
        <label>
          <span class="visually-hidden">Show names containing</span>
          <input type="search" name="filter" value={view.filter} placeholder="Filter by name" />
        </label>
        <button class="quiet" type="submit">
          Filter
        </button>
      </form>
      <p class="fine" role="status" safe>
        {countText(view.total)}
      </p>
      <ul class="gallery">
        {view.entries.map((entry) => (
          <Card entry={entry} />
        ))}
      </ul>
      <nav class="paging" aria-label="Pages">
        {view.previousHref === null ? (
          ''
        ) : (
          <a class="button quiet" rel="prev" href={view.previousHref}>
            Previous
          </a>
        )}
        {view.nextHref === null ? (
          ''
        ) : (
          <a class="button quiet" rel="next" href={view.nextHref}>
            Next
          </a>
        )}
      </nav>
    </>
  ),
};

function Card({ entry }: { entry: GalleryEntry }) {
  return (
    <li>
      <a href={entry.href}>
        <span class="picture">
          {entry.cover === null ? (
            <span aria-hidden="true">{entry.isVideo ? '▶' : '♪'}</span>
          ) : (
            <img src={entry.cover} alt="" loading="lazy" />
          )}
        </span>
        <span class="name" safe>
          {entry.name}
        </span>
        <span class="fine" safe>
          {`${entry.isVideo ? 'Video' : 'Audio'} · ${entry.detail}`}
        </span>
      </a>
    </li>
  );
}

function countText(total: number): string {
  if (total === 0) return 'Nothing to hear or see';
  return total === 1 ? '1 file' : `${total.toLocaleString('en')} files`;
}
