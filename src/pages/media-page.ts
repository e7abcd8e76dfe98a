/**
 * The player of one media file and the gallery of all, read through the same operations as the API.
 */
import type { App } from '../app.ts';
import { timestamp } from '../base/clock.ts';
import { isVideo } from '../base/files/media-type.ts';
import { encodePath, fileNameOf } from '../base/paths.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { describeMedia, listMedia } from '../operations/content.ts';
import type { MediaDescription } from '../operations/content.ts';
import { askedFormat, formatHrefs, listFile, type ListRow } from '../http/reply/list-file.ts';
import type { Context } from '../http/context.ts';
import { pageReply } from './page-reply.ts';
import { type GalleryChoice, galleryPage, type GalleryEntry } from './views/gallery.tsx';
import { type PlayerLink, playerPage } from './views/player.tsx';
import { redirectReply, type Reply } from '../http/reply/reply.ts';

/** Files of a gallery page; each is looked at once for its length and its cover. */
const PAGE_FILES = 24;

export async function mediaPageReply(
  services: App,
  context: Context,
  resource: Resource,
): Promise<Reply> {
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
  });
}

/** Everything to hear and see the caller may read, a page at a time. Throws as `listMedia`. */
export async function galleryReply(services: App, context: Context): Promise<Reply> {
  // Whatever the Accept, because this address is a page only.
  if (context.caller === null) return redirectReply('/auth/login?next=/ui/media');
  const choice = choiceOf(context);
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
  const offset = Math.max(0, Math.trunc(Number(context.queryValue('offset') ?? 0)) || 0);
  const shown = found.slice(offset, offset + PAGE_FILES);
  const entries = await Promise.all(shown.map((resource) => entryOf(services, resource)));
  return pageReply(context, galleryPage, {
    ...choice,
    total: found.length,
    entries: entries.filter((entry) => entry !== null),
    files: formatHrefs('/ui/media', queryOf(choice)),
    previousHref: offset > 0 ? hrefAt(choice, Math.max(0, offset - PAGE_FILES)) : null,
    nextHref: offset + PAGE_FILES < found.length ? hrefAt(choice, offset + PAGE_FILES) : null,
  });
}

/** What is known of a file without opening it. */
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

/** Null for a file that vanished meanwhile. */
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

/** Files come by name; the others by what is known without opening them, the greatest first. */
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

function queryOf({ filter, type, sort }: GalleryChoice): URLSearchParams {
  return new URLSearchParams({
    ...(filter !== '' && { filter }),
    ...(type !== '' && { type }),
    ...(sort !== 'name' && { sort }),
  });
}

function hrefAt(choice: GalleryChoice, offset: number): string {
  const query = queryOf(choice);
  if (offset > 0) query.set('offset', String(offset));
  return query.size === 0 ? '/ui/media' : `/ui/media?${query}`;
}

function durationText(seconds: number | null): string | null {
  if (seconds === null) return null;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
