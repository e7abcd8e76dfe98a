/** @jsxImportSource @kitajs/html */
/**
 * All media files as cards: filtered, sorted and paged by one form and plain links.
 */
import type { Format } from '../../tables/read/format.ts';
import { trailTo } from '../trail.ts';
import { Size } from '../parts/values.tsx';
import type { Page } from './frame.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { Choice, NameFilter } from '../parts/forms.tsx';

export interface GalleryEntry {
  readonly name: string;
  /** Artist and length, as far as known. */
  readonly detail: string;
  readonly size: number;
  readonly isVideo: boolean;
  readonly href: string;
  /** Address of its cover; null without one. */
  readonly cover: string | null;
}

export interface GalleryChoice {
  readonly filter: string;
  readonly type: '' | 'audio' | 'video';
  readonly sort: 'name' | 'changed' | 'size';
}

interface GalleryView extends GalleryChoice {
  /** On all pages. */
  readonly total: number;
  readonly entries: readonly GalleryEntry[];
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  /** All that match, in each format. */
  readonly files: Readonly<Record<Format, string>>;
}

const TYPES = [
  ['', 'Sound and films'],
  ['audio', 'Sound'],
  ['video', 'Films'],
] as const;
const SORTS = [
  ['name', 'By name'],
  ['changed', 'Last changed first'],
  ['size', 'Largest first'],
] as const;

export const galleryPage: Page<GalleryView> = {
  name: 'gallery',
  layout: 'wide',
  title: () => 'Media',
  styles: ['media.css'],
  scripts: ['gallery.js'],
  trail: () => trailTo(''),
  content: (view) => (
    <>
      <form
        class="filter wide"
        method="get"
        action="/ui/media"
        role="search"
        data-live="cards count share"
      >
        <NameFilter value={view.filter} />
        <Choice label="Kind" name="type" choices={TYPES} chosen={view.type} />
        <Choice label="Order" name="sort" choices={SORTS} chosen={view.sort} />
        <button class="quiet" type="submit">
          Show
        </button>
      </form>
      <div class="counted">
        <p class="fine" role="status" id="count" safe>
          {countText(view)}
        </p>
        <div id="share">
          <ExportMenu json={view.files.json} files={view.files} note="the list of these files" />
        </div>
      </div>
      <div id="cards">
        {view.total === 0 && (view.filter !== '' || view.type !== '') ? (
          <p class="empty">
            No file has this name and kind. <a href="/ui/media">Show all media</a>
          </p>
        ) : view.total === 0 ? (
          <p class="empty">
            No sound or film is in the folder yet. Files such as .mp3 and .mp4 appear here within a
            second; <a href="/">all resources</a> are listed by name.
          </p>
        ) : (
          ''
        )}
        <ul class="gallery" data-keys={'←+→+↑+↓ Go from card to card'}>
          {view.entries.map((entry) => (
            <Card entry={entry} />
          ))}
        </ul>
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
      </div>
    </>
  ),
};

function Card({ entry }: { entry: GalleryEntry }) {
  return (
    <li>
      <a href={entry.href}>
        <span class="picture">
          {entry.cover === null ? (
            <span class={`glyph ${entry.isVideo ? 'media' : 'sound'}`} aria-hidden="true"></span>
          ) : (
            <img src={entry.cover} alt="" loading="lazy" />
          )}
        </span>
        <span class="name" safe>
          {entry.name}
        </span>
        <span class="fine">
          <span safe>
            {[entry.isVideo ? 'Film' : 'Sound', entry.detail].filter(Boolean).join(' · ')}
          </span>{' '}
          · <Size bytes={entry.size} />
        </span>
      </a>
    </li>
  );
}

function countText({ total, filter, type }: GalleryView): string {
  const isAll = filter === '' && type === '';
  if (total === 0) return isAll ? 'Nothing to hear or see' : 'Nothing matches';
  return total === 1 ? '1 file' : `${total.toLocaleString('en')} files`;
}
