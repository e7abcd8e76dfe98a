import type { App } from '../../app.ts';
import type { Caller, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { isVideo, mediaTypeOf } from '../../base/files/media-type.ts';
import { fileNameOf } from '../../base/paths.ts';
import { looksLikeText, readText } from '../../base/text/text-bytes.ts';
import type { Documents } from '../../docroot/documents.ts';
import { type MediaMetadata, NO_METADATA, type PictureSize } from '../../docroot/kind.ts';
import type { Area } from '../../docroot/registry/names.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { type LinkUse, type Origin, makerOf, mayAccess, requireAccess } from '../access.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import { filesWithin } from './resources.ts';

interface ContentAddress {
  /** Null for a path without a family prefix. */
  readonly area: Area | null;
  readonly name: string;
  readonly path: string;
}

/** Throws as `requireAccess`. With a family prefix, a right on either name is enough to be told `not-found`. */
export async function findByPath(
  services: App,
  caller: Caller,
  origin: Origin,
  { area, name, path }: ContentAddress,
  verb: Verb,
  forLinks?: LinkUse,
): Promise<Resource> {
  const { registry } = services;
  const inFamily = area === null ? null : registry.lookup(area, name);
  const resource = inFamily ?? registry.original(path) ?? registry.lookup('content', path);
  const request = { name, alsoNamed: path, resource, verb, ...(forLinks && { forLinks }) };
  return requireAccess(services, caller, origin, request);
}

export type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly mimeType: string }
  /** Not text; `readBytes` returns them. */
  | { readonly kind: 'bytes'; readonly size: number; readonly mimeType: string };

const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|yaml|toml)$|.*\+(?:xml|json)$)/;

/**
 * The HTML of a rendered document, the text of a text file, only the size of anything else. Throws `too-large` for a
 * text of more than `maxBytes`, `not-found`, and as `Documents.rendered`.
 */
export async function readContent(
  { documents }: Pick<App, 'documents'>,
  resource: Resource,
  maxBytes: number,
): Promise<FileContent> {
  if (resource.kind.render !== undefined) {
    const { body } = await documents.rendered(resource);
    if (Buffer.byteLength(body) > maxBytes) throw fileTooLarge(Buffer.byteLength(body));
    return { kind: 'text', text: body, mimeType: 'text/html' };
  }
  const mimeType = mediaTypeOf(resource.rel);
  const file = await documents.open(resource);
  try {
    const isText = TEXT_TYPES.test(mimeType) && (await looksLikeText(file));
    if (!isText && resource.type !== 'html') return { kind: 'bytes', size: file.size, mimeType };
    if (file.size > maxBytes) throw fileTooLarge(file.size);
    return { kind: 'text', text: await readText(file, maxBytes), mimeType };
  } finally {
    await file.close();
  }
}

/** Throws `too-large` past `maxBytes`, and `not-found`. */
export async function readBytes(
  { documents }: Pick<App, 'documents'>,
  resource: Resource,
  maxBytes: number,
): Promise<Uint8Array> {
  const file = await documents.open(resource);
  try {
    if (file.size > maxBytes) throw fileTooLarge(file.size);
    return await file.read(0, file.size);
  } finally {
    await file.close();
  }
}

function fileTooLarge(bytes: number): AppError {
  return new AppError('too-large', `Result too large: ${bytes} bytes; download the file instead`);
}

/** The tags of a media file and the facts of the file. Broken media have no tags. */
export interface MediaDescription extends MediaMetadata {
  readonly resource: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly media_type: 'audio' | 'video';
  readonly mime_type: string;
}

/** Throws `not-found` when the file is gone. */
export async function describeMedia(
  { documents }: App,
  resource: Resource,
): Promise<MediaDescription> {
  const { rel, canonical } = resource;
  const file = await documents.open(resource);
  await file.close();
  return {
    resource: canonical,
    file_name: fileNameOf(rel),
    file_size: file.size,
    media_type: isVideo(rel) ? 'video' : 'audio',
    mime_type: mediaTypeOf(rel),
    ...(await metadataOrNothing(documents, resource)),
  };
}

/** What a picture says of itself, and the facts of the file. Size in pixels as displayed, null when unknown. */
export interface PictureDescription extends Omit<
  MediaDescription,
  keyof MediaMetadata | 'media_type'
> {
  readonly media_type: 'image';
  readonly width: number | null;
  readonly height: number | null;
}

/** Throws `not-found` when the file is gone. */
export async function describePicture(
  { documents }: App,
  resource: Resource,
): Promise<PictureDescription> {
  const { rel, canonical } = resource;
  const file = await documents.open(resource);
  await file.close();
  const size = await documents.pictureSize(resource);
  return {
    resource: canonical,
    file_name: fileNameOf(rel),
    file_size: file.size,
    media_type: 'image',
    mime_type: mediaTypeOf(rel),
    width: size?.width ?? null,
    height: size?.height ?? null,
  };
}

async function metadataOrNothing(documents: Documents, resource: Resource): Promise<MediaMetadata> {
  try {
    return await documents.metadata(resource);
  } catch (error) {
    // The file is played all the same: a browser may be able to read it.
    const isBroken = error instanceof AppError && error.code !== 'not-found';
    if (isBroken) return NO_METADATA;
    throw error;
  }
}

const MAX_PICTURES = 50;
const PICTURES_WAIT_MS = 200;

/**
 * Sizes by file name, so that a page can reserve their room. Omits pictures that the caller may not read and those
 * not measured in time. A name may have its extension or not.
 */
export async function pictureSizes(
  { db, registry, documents }: App,
  caller: Caller,
  names: readonly string[],
): Promise<ReadonlyMap<string, PictureSize>> {
  const sizes = new Map<string, PictureSize>();
  if (names.length === 0 || caller === null) return sizes;
  const grants = await loadGrants(db, caller);
  const looks = names.slice(0, MAX_PICTURES).map(async (name) => {
    const resource = registry.lookup('content', name);
    if (resource === null || !mayAccess(grants, resource, 'read')) return;
    const size = await documents.pictureSize(resource);
    if (size !== null) sizes.set(name, size);
  });
  // The browser shows an unreadable picture as broken.
  await Promise.race([Promise.allSettled(looks), Bun.sleep(PICTURES_WAIT_MS)]);
  return new Map(sizes);
}

/** Whether the caller may have the file whole; one of its sheets does not give it. */
export async function mayReadOriginal(
  { db, registry }: App,
  caller: Caller,
  { rel }: Resource,
): Promise<boolean> {
  const original = registry.original(rel);
  if (original === null || caller === null) return false;
  const { link } = caller;
  // What lies outside of a link's folder is no file of it, and a view is not the file.
  const reader = link === undefined || link.view !== null ? caller : makerOf(link);
  return mayAccess(await loadGrants(db, reader), original, 'read');
}

/** By rel in byte order. Throws `permission-denied` when there are none and the caller is no superuser. */
export async function listMedia(
  { db, registry }: App,
  caller: NonNullable<Caller>,
): Promise<readonly Resource[]> {
  const isMedia = (one: Resource): boolean => one.family === 'media';
  const { link } = caller;
  if (link !== undefined) {
    return (await filesWithin({ db, registry }, makerOf(link), link.resource)).filter(isMedia);
  }
  const grants = await loadGrants(db, caller);
  const readable = registry.list().filter((one) => isMedia(one) && mayAccess(grants, one, 'read'));
  if (readable.length === 0 && !caller.isSuperuser) {
    throw new AppError('permission-denied', 'No accessible media resources');
  }
  return readable;
}
