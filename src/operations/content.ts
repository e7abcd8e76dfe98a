/**
 * Content and media: find, open, render, describe (sections 2 and 19 of the contract). Every door comes through here:
 * authorise, then run. Nothing here changes a file, so nothing is audited but refusals.
 */
import type { Caller, Verb } from '../auth/principal.ts';
import { AppError } from '../base/errors.ts';
import { isVideo, mediaTypeOf } from '../base/media-type.ts';
import { fileNameOf } from '../base/paths.ts';
import { looksLikeText, readText } from '../base/text-bytes.ts';
import type { Documents } from '../docroot/documents.ts';
import { type MediaMetadata, NO_METADATA, type PictureSize } from '../docroot/kind.ts';
import type { Area } from '../docroot/names.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import { type AccessServices, type Origin, mayAccess, requireAccess } from './access.ts';
import { loadGrants } from '../auth/permissions.ts';

/** What the operations on content and media need. */
export interface ContentServices extends AccessServices {
  readonly registry: Registry;
  readonly documents: Documents;
}

/** Where a path may lead: an area with the name after its prefix, and the whole path as bare content (DS-30). */
interface ContentAddress {
  /** Null for a path without the prefix of a family. */
  readonly area: Area | null;
  /** Name after the prefix; the whole path where there is none. */
  readonly name: string;
  /** The whole path. */
  readonly path: string;
}

/**
 * The resource a caller means by a path. Throws as `requireAccess`; with a family prefix a grant on either name lets know
 * that nothing is there (DS-30, DS-130).
 */
export async function findByPath(
  services: ContentServices,
  caller: Caller,
  origin: Origin,
  { area, name, path }: ContentAddress,
  verb: Verb,
): Promise<Resource> {
  const { registry } = services;
  const inFamily = area === null ? null : registry.lookup(area, name);
  const resource = inFamily ?? registry.lookup('content', path);
  return requireAccess(services, caller, origin, { name, alsoNamed: path, resource, verb });
}

/** A published file as programs without a browser read it. */
export type FileContent =
  | { readonly kind: 'text'; readonly text: string; readonly mimeType: string }
  /** No text; `readBytes` gives them. */
  | { readonly kind: 'bytes'; readonly size: number; readonly mimeType: string };

/** Media types whose files are text (DS-151). */
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|yaml|toml)$|.*\+(?:xml|json)$)/;

/**
 * What a page or file holds: the HTML of a rendered document, the text of a text file, or only the size of everything else.
 * Throws `too-large` for a text of more than `maxBytes`, `not-found`, and as `Documents.rendered`.
 */
export async function readContent(
  { documents }: Pick<ContentServices, 'documents'>,
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

/** The bytes of a published file. Throws `too-large` past `maxBytes`, and `not-found`. */
export async function readBytes(
  { documents }: Pick<ContentServices, 'documents'>,
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

/** What a media file says about itself, with the facts of the file (DS-162). Broken media say nothing. */
export interface MediaDescription extends MediaMetadata {
  readonly resource: string;
  readonly file_name: string;
  readonly file_size: number;
  readonly media_type: 'audio' | 'video';
  readonly mime_type: string;
}

/** Describes a media file. Throws `not-found` when it is gone. */
export async function describeMedia(
  { documents }: ContentServices,
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

async function metadataOrNothing(documents: Documents, resource: Resource): Promise<MediaMetadata> {
  try {
    return await documents.metadata(resource);
  } catch (error) {
    // The file is played all the same; a browser may know more about it than we do (DS-162).
    const isBroken = error instanceof AppError && error.code !== 'not-found';
    if (isBroken) return NO_METADATA;
    throw error;
  }
}

/** Pictures of one page that are looked at; of more a reader sees the first. */
const MAX_PICTURES = 50;
/** A page does not wait longer for what it can be shown without. */
const PICTURES_WAIT_MS = 200;

/**
 * How much room pictures take in a page, by the names of their files; those that the caller may not read are left out, as are
 * those not known in time. Names stand for content, with or without extension.
 */
export async function pictureSizes(
  { db, registry, documents }: ContentServices,
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
  // One that cannot be read is shown as such by the browser.
  await Promise.race([Promise.allSettled(looks), Bun.sleep(PICTURES_WAIT_MS)]);
  return new Map(sizes);
}

/**
 * The media files the caller may read, by rel in byte order. Throws `permission-denied` when there are none and the
 * caller is no superuser (DS-185).
 */
export async function listMedia(
  { db, registry }: ContentServices,
  caller: NonNullable<Caller>,
): Promise<readonly Resource[]> {
  const grants = await loadGrants(db, caller);
  const readable = registry
    .list()
    .filter((one) => one.family === 'media' && mayAccess(grants, one, 'read'));
  if (readable.length === 0 && !caller.isSuperuser) {
    throw new AppError('permission-denied', 'No accessible media resources');
  }
  return readable;
}
