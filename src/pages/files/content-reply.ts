/** Which of the forms of a file a request means. */
import type { App } from '../../app.ts';
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { FileStamp } from '../../base/files/file-stamp.ts';
import { sha256Hex } from '../../base/ids.ts';
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { loadGrants } from '../../accounts/rights/permissions.ts';
import { mayAccess } from '../../operations/access.ts';
import { decodePath, encodePath, fileNameOf, stemOf } from '../../base/paths.ts';
import { MAX_RENDER_BYTES } from '../../docroot/documents.ts';
import type { PictureSize } from '../../docroot/kind.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { fileReply } from '../../http/reply/file-reply.ts';
import { preferredType } from '../../http/reply/negotiate.ts';
import {
  bodyReply,
  emptyReply,
  jsonReply,
  type Reply,
  type Answer,
} from '../../http/reply/reply.ts';
import { describeMedia, describePicture, pictureSizes } from '../../operations/files/content.ts';
import { fileRights } from '../../operations/files/file-changes.ts';
import { READ_METHODS } from '../../operations/files/datasets.ts';
import { resolveLinks } from './document-links.ts';
import { pageReply } from '../page-reply.ts';
import { documentPage } from './document.tsx';

const PICTURE = /<img [^>]*>/g;

/**
 * `markup` must come from the allow list, which writes attributes in one way only; `path` is that of the page,
 * percent-encoded.
 */
async function withPictureSizes(
  markup: string,
  path: string,
  sizesOf: (names: readonly string[]) => Promise<ReadonlyMap<string, PictureSize>>,
): Promise<string> {
  const names = new Set<string>();
  for (const [tag] of markup.matchAll(PICTURE)) {
    const name = nameIn(tag, path);
    if (name !== null) names.add(name);
  }
  if (names.size === 0) return markup;
  const sizes = await sizesOf([...names]);
  return markup.replace(PICTURE, (tag) => {
    const size = sizes.get(nameIn(tag, path) ?? '');
    if (size === undefined) return tag;
    return `<img width="${size.width}" height="${size.height}" ${tag.slice('<img '.length)}`;
  });
}

/** Null where the picture is not on this server. */
function nameIn(tag: string, path: string): string | null {
  if (/ (?:width|height)="/.test(tag)) return null;
  const src = / src="([^"]*)"/.exec(tag)?.[1];
  if (src === undefined || src === '') return null;
  const url = URL.parse(src.replaceAll('&amp;', '&'), `http://docroot${path}`);
  if (url === null || url.host !== 'docroot' || url.protocol !== 'http:') return null;
  return decodePath(url.pathname)?.join('/') ?? null;
}

const VARY = { Vary: 'Accept, Accept-Encoding' };

/** Throws `method-not-allowed`, and as the operations. */
export async function contentReply(context: Context, resource: Resource): Promise<Answer> {
  const { services, method } = context;
  // A view is less than the file.
  if (resource.view !== undefined) throw new AppError('not-found', 'Not Found');
  if (method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  if (method !== 'GET' && method !== 'HEAD') {
    throw new AppError('method-not-allowed', 'Method Not Allowed', {
      headers: { allow: READ_METHODS },
    });
  }
  const isDownload = isOn(context, 'download');
  if (resource.family === 'media' && !isDownload) {
    if (isOn(context, 'metadata')) return metadataReply(context, resource);
    if (isOn(context, 'thumbnail')) return coverReply(context, resource);
  }
  const isPicture = /^image\/(?!svg)/.test(mediaTypeOf(resource.rel));
  if (isPicture && !isDownload && isOn(context, 'metadata')) {
    return metadataReply(context, resource);
  }
  if (resource.kind.render === undefined || isDownload)
    return fileReply(services, context, resource);
  const wantsSource =
    isOn(context, 'raw') ||
    preferredType(context.request.headers.get('accept'), ['text/html', 'text/markdown']) ===
      'text/markdown';
  if (wantsSource) return fileReply(services, context, resource);
  return isOn(context, 'source')
    ? sourceReply(context, resource)
    : documentReply(context, resource);
}

async function documentReply(context: Context, resource: Resource): Promise<Answer> {
  const { services } = context;
  const { rel } = resource;
  const changedAt = await changedAtOf(services, resource);
  const document = await services.documents.rendered(resource);
  const linked = resolveLinks(document.body, {
    path: context.path,
    rel,
    familyOf: (target) => services.documents.familyOf(target),
  });
  const body = await withPictureSizes(linked, context.path, (names) =>
    pictureSizes(services, context.caller, names),
  );
  const reply = pageReply(context, documentPage, {
    ...document,
    title: document.title ?? fileNameOf(stemOf(rel)),
    body,
    rel,
    changedAt,
    source: null,
    editHref: await editHrefOf(context, resource),
    historyHref: await historyHrefOf(context, resource),
  });
  return perReader(reply);
}

/** Throws `too-large`. */
async function sourceReply(context: Context, resource: Resource): Promise<Answer> {
  const { services } = context;
  const { rel } = resource;
  const file = await services.documents.open(resource);
  try {
    if (file.size > MAX_RENDER_BYTES) {
      throw new AppError('too-large', `'${rel}' is too large to be shown as a page; download it`);
    }
    const source = new TextDecoder().decode(await file.read(0, file.size));
    const changedAt = changeTime(file.stamp);
    const historyHref = await historyHrefOf(context, resource);
    const none = { body: '', outline: [], facts: [], hasHeading: false };
    const editHref = await editHrefOf(context, resource);
    const hrefs = { editHref, historyHref };
    const view = { ...none, title: fileNameOf(rel), rel, changedAt, source, ...hrefs };
    return perReader(pageReply(context, documentPage, view));
  } finally {
    await file.close();
  }
}

/** Null for who may not write the file. */
export async function historyHrefOf(
  { services, caller }: Context,
  resource: Resource,
): Promise<string | null> {
  if (caller === null) return null;
  const grants = await loadGrants(services.db, caller);
  return mayAccess(grants, resource, 'write') ? `/ui/${encodePath(resource.rel)}?history=1` : null;
}

async function editHrefOf(
  { services, caller }: Context,
  resource: Resource,
): Promise<string | null> {
  const { rel } = resource;
  const { mayMove } = (await fileRights(services, caller))({ rel, resource });
  return mayMove ? `/ui/${encodePath(rel)}?edit=1` : null;
}

async function changedAtOf(services: App, resource: Resource): Promise<string> {
  const file = await services.documents.open(resource);
  await file.close();
  return changeTime(file.stamp);
}

function changeTime({ mtimeNs }: FileStamp): string {
  return timestamp(Number(mtimeNs) / 1e6);
}

/** The frame names the user. */
function perReader(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, ...VARY }, etag: etagOf(String(reply.body)) };
}

async function metadataReply(context: Context, resource: Resource): Promise<Answer> {
  const { services } = context;
  const describe = resource.family === 'media' ? describeMedia : describePicture;
  const description = await describe(services, resource);
  const etag = etagOf(JSON.stringify(description));
  if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
  return jsonReply(description, { etag, headers: VARY });
}

/** So pages need not carry it. Throws `not-found`. */
async function coverReply(context: Context, resource: Resource): Promise<Answer> {
  const { services } = context;
  const { thumbnail } = await describeMedia(services, resource);
  const [, type, data] = /^data:([\w/.+-]+);base64,(.*)$/.exec(thumbnail ?? '') ?? [];
  if (type === undefined || data === undefined) throw new AppError('not-found', 'Not Found');
  const etag = etagOf(data);
  if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
  return bodyReply(Buffer.from(data, 'base64'), type, { etag, headers: VARY });
}

function isOn(context: Context, parameter: string): boolean {
  return /^(?:true|1)$/i.test(context.queryValue(parameter) ?? '');
}

function etagOf(text: string): string {
  return sha256Hex(text).slice(0, 32);
}
