/** @jsxImportSource @kitajs/html */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { App } from '../../app.ts';
import { timestamp } from '../../base/clock.ts';
import { isVideo } from '../../base/files/media-type.ts';
import { encodePath, fileNameOf } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import {
  askedFormat,
  formatHrefs,
  formatParameter,
  listFile,
  type ListRow,
} from '../../http/reply/list-file.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { describeMedia, listMedia, type MediaDescription } from '../../operations/files/content.ts';
import { historyHrefOf } from './content-reply.ts';
import { pageReply } from '../page-reply.ts';
import { ExportMenu } from '../parts/export-menu.tsx';
import { Choice, NameFilter } from '../parts/forms.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { Fact, Facts, Size } from '../parts/values.tsx';
import { addressWith, queryWith, trailTo } from '../addresses.ts';
import type { Page } from '../frame.tsx';
import type { Format } from '../../tables/read/format.ts';
import type { Viewer } from '../../http/operation-description.ts';

interface PlayerView {
  readonly title: string;
  readonly name: string;
  readonly isVideo: boolean;
  /** Percent-encoded. */
  readonly source: string;
  readonly type: string;
  readonly hasCover: boolean;
  readonly facts: readonly { readonly name: string; readonly text: string }[];
  readonly size: number;
  readonly position: string;
  readonly previous: PlayerLink | null;
  readonly next: PlayerLink | null;
  readonly historyHref: string | null;
}

interface PlayerLink {
  readonly href: string;
  readonly label: string;
}

export const playerPage: Page<PlayerView> = {
  name: 'player',
  layout: 'wide',
  title: ({ title }) => title,
  styles: ['media.css'],
  trail: ({ name }) => trailTo(name),
  shares: ({ name }) => name,
  content: (view, frame) => (
    <div class="player">
      <div class="stage">
        <Player view={view} />
        <Ways view={view} />
      </div>
      <section class="panel" aria-label="About this file">
        <dl class="facts">
          <Facts facts={view.facts} />
          <Fact name="Size">
            <Size bytes={view.size} />
          </Fact>
        </dl>
        <p class="fine downloads">
          <a href={`${view.source}?download=true`} download="">
            Download
          </a>
          {view.historyHref !== null && <a href={view.historyHref}>History</a>}
          {frame.link === null && <a href="/ui/media">All media</a>}
        </p>
      </section>
    </div>
  ),
};

function Ways({ view: { previous, next, position } }: { view: PlayerView }) {
  if (previous === null && next === null) return '';
  return (
    <nav class="ways" aria-label="In this folder">
      {previous === null ? (
        <span></span>
      ) : (
        <a class="button quiet" rel="prev" href={previous.href} data-key="p">
          <span aria-hidden="true">←</span>
          <span class="visually-hidden">Previous: </span>
          <span safe>{previous.label}</span>
        </a>
      )}
      <span class="fine" safe>
        {position}
      </span>
      {next === null ? (
        <span></span>
      ) : (
        <a class="button quiet" rel="next" href={next.href} data-key="n">
          <span class="visually-hidden">Next: </span>
          <span safe>{next.label}</span>
          <span aria-hidden="true">→</span>
        </a>
      )}
    </nav>
  );
}

/** Loads length and first picture, not the whole file. The JSX types lack the attribute. */
const PRELOAD = { preload: 'metadata' };

function Player({ view }: { view: PlayerView }) {
  const cover = `${view.source}?thumbnail=true`;
  if (view.isVideo) {
    return (
      <video
        controls
        {...PRELOAD}
        src={view.source}
        poster={view.hasCover ? cover : undefined}
        aria-label={view.title}
      ></video>
    );
  }
  return (
    <>
      {view.hasCover ? (
        <img class="cover" src={cover} alt="" width="320" height="320" />
      ) : (
        <div class="cover" aria-hidden="true">
          <span class="glyph sound"></span>
        </div>
      )}
      <audio controls="" {...PRELOAD} src={view.source} aria-label={view.title}></audio>
    </>
  );
}

/** Each is opened for its length and its cover. */
const PAGE_FILES = 24;

export async function mediaPageReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  const folder = folderOf(resource.rel);
  const all = (await listMedia(services, context.user)).filter(
    ({ rel }) => folderOf(rel) === folder,
  );
  const media = await describeMedia(services, resource);
  const index = all.findIndex(({ rel }) => rel === resource.rel);
  return pageReply(context, playerPage, {
    title: media.title ?? media.file_name,
    name: resource.canonical,
    isVideo: media.media_type === 'video',
    source: `/media/${encodePath(resource.canonical)}`,
    type: media.mime_type,
    hasCover: media.thumbnail !== null,
    facts: factsOf(media),
    size: media.file_size,
    position: index < 0 ? '' : `${index + 1} of ${all.length} in this folder`,
    previous: linkOf(all[index - 1]),
    next: index < 0 ? null : linkOf(all[index + 1]),
    historyHref: await historyHrefOf(context, resource),
  });
}

/** Throws as `listMedia`. */
async function galleryReply(context: Context): Promise<Reply> {
  // Whatever the Accept, because this address is a page only.
  const { services } = context;
  if (context.caller === null) return redirectReply('/auth/login?next=/ui/media');
  const choice = choiceOf(context);
  const parameters = { ...choice, sort: choice.sort === 'name' ? '' : choice.sort };
  const wanted = choice.filter.toLowerCase();
  const all = await listMedia(services, context.caller);
  const found = inOrder(services, choice.sort, all).filter(
    ({ canonical, rel }) =>
      canonical.toLowerCase().includes(wanted) &&
      (choice.type === '' || isVideo(rel) === (choice.type === 'video')),
  );
  const format = askedFormat(context);
  if (format !== null) {
    return listFile(
      'media',
      format,
      found.map((resource) => mediaRow(services, resource)),
    );
  }
  const hrefAt = (at: number): string => addressWith('/ui/media', { ...parameters, offset: at });
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const shown = found.slice(offset, offset + PAGE_FILES);
  const entries = await Promise.all(shown.map((resource) => entryOf(services, resource)));
  return pageReply(context, galleryPage, {
    ...choice,
    total: found.length,
    entries: entries.filter((entry) => entry !== null),
    files: formatHrefs('/ui/media', queryWith(parameters)),
    previousHref: offset > 0 ? hrefAt(Math.max(0, offset - PAGE_FILES)) : null,
    nextHref: offset + PAGE_FILES < found.length ? hrefAt(offset + PAGE_FILES) : null,
  });
}

/** Without opening it. */
function mediaRow({ registry }: App, resource: Resource): ListRow {
  const { canonical, rel } = resource;
  const stamp = registry.stampOf(resource);
  return {
    resource: canonical,
    file_name: fileNameOf(rel),
    file_size: stamp?.size ?? null,
    modified_at: stamp === null ? null : timestamp(Number(stamp.mtimeNs) / 1e6),
    media_type: isVideo(rel) ? 'video' : 'audio',
    media_url: `/media/${encodePath(canonical)}`,
    ui_url: `/ui/${encodePath(canonical)}`,
  };
}

/** Null for a file that vanished. */
async function entryOf(services: App, resource: Resource): Promise<GalleryEntry | null> {
  const media = await describeMedia(services, resource).catch((error: unknown) => {
    if (services.registry.get(resource.rel) === null) return null;
    throw error;
  });
  if (media === null) return null;
  const address = encodePath(resource.canonical);
  return {
    name: media.title ?? fileNameOf(resource.canonical),
    detail: [media.artist, durationText(media.duration)]
      .filter((text) => text !== null)
      .join(' · '),
    size: media.file_size,
    isVideo: media.media_type === 'video',
    href: `/ui/${address}`,
    cover: media.thumbnail === null ? null : `/media/${address}?thumbnail=true`,
  };
}

function factsOf(media: MediaDescription): { name: string; text: string }[] {
  const size = media.width === null ? null : `${media.width} × ${media.height ?? '?'} pixels`;
  const rate = media.bitrate === null ? null : `${Math.round(media.bitrate / 1000)} kbit/s`;
  const sampling = media.sample_rate === null ? null : `${media.sample_rate / 1000} kHz`;
  const facts: [string, string | null][] = [
    ['Artist', media.artist],
    ['Album', media.album],
    ['Genre', media.genre],
    ['Length', durationText(media.duration)],
    ['Picture', size],
    ['Bit rate', rate],
    ['Sampling', sampling],
    ['Channels', media.channels === null ? null : String(media.channels)],
    ['File', media.file_name],
    ['Type', media.mime_type],
  ];
  return facts.flatMap(([name, text]) => (text === null ? [] : [{ name, text }]));
}

function linkOf(resource: Resource | undefined): PlayerLink | null {
  if (resource === undefined) return null;
  const { canonical } = resource;
  return { href: `/ui/${encodePath(canonical)}`, label: fileNameOf(canonical) };
}

function choiceOf(context: Context): GalleryChoice {
  const type = context.queryValue('type');
  const sort = context.queryValue('sort');
  return {
    filter: (context.queryValue('filter') ?? '').trim(),
    type: type === 'audio' || type === 'video' ? type : '',
    sort: sort === 'changed' || sort === 'size' ? sort : 'name',
  };
}

/** Files come by name; the others by size or date, the greatest first. */
function inOrder(
  { registry }: App,
  sort: GalleryChoice['sort'],
  files: readonly Resource[],
): readonly Resource[] {
  if (sort === 'name') return files;
  const keyed = files.map((file) => {
    const stamp = registry.stampOf(file);
    return { file, key: sort === 'size' ? (stamp?.size ?? 0) : Number(stamp?.mtimeNs ?? 0) };
  });
  return keyed.sort((a, b) => b.key - a.key).map(({ file }) => file);
}

function folderOf(rel: string): string {
  return rel.slice(0, rel.lastIndexOf('/') + 1);
}

function durationText(seconds: number | null): string | null {
  if (seconds === null) return null;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Public, so that it can redirect visitors to the sign-in. */
export const mediaRoute = new Elysia({ name: 'media' })
  .use(lifecycle)
  .get('/ui/media', ({ ask }) => galleryReply(ask), {
    checks: {
      access: 'public',
      isListedFor: ({ caller, readsMedia }: Viewer) => readsMedia || caller?.isSuperuser === true,
      cacheControl: PRIVATE,
    },
    describes: {
      summary: 'Show the media files you may read',
      tag: 'system',
      parameters: [
        {
          name: 'filter',
          in: 'query',
          description: 'Part of the names to show',
          schema: Type.String(),
        },
        {
          name: 'type',
          in: 'query',
          description: 'Only sound, or only films',
          schema: Type.Union([Type.Literal('audio'), Type.Literal('video')]),
        },
        {
          name: 'sort',
          in: 'query',
          description: 'By name, the last changed first, or the largest first',
          schema: Type.Union([Type.Literal('name'), Type.Literal('changed'), Type.Literal('size')]),
        },
        {
          name: 'offset',
          in: 'query',
          description: 'Files to leave out at the start',
          schema: Type.Integer({ minimum: 0, default: 0 }),
        },
        formatParameter,
      ],
      answers: {
        200: { description: 'The gallery', mediaType: 'text/html', schema: null },
        302: { description: 'To the login, for who is not signed in', schema: null },
      },
      errors: [403],
    },
  });

interface GalleryEntry {
  readonly name: string;
  /** If known. */
  readonly detail: string;
  readonly size: number;
  readonly isVideo: boolean;
  readonly href: string;
  readonly cover: string | null;
}

interface GalleryChoice {
  readonly filter: string;
  readonly type: '' | 'audio' | 'video';
  readonly sort: 'name' | 'changed' | 'size';
}

interface GalleryView extends GalleryChoice {
  readonly total: number;
  readonly entries: readonly GalleryEntry[];
  readonly previousHref: string | null;
  readonly nextHref: string | null;
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
