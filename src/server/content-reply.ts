/**
 * Content and media as answers (section 19): which of the forms of a file a request means.
 */
import { AppError } from '../base/errors.ts';
import { sha256Hex } from '../base/ids.ts';
import { fileNameOf, stemOf } from '../base/paths.ts';
import type { Resource } from '../docroot/registry.ts';
import { type ContentServices, describeMedia } from '../operations/content.ts';
import { READ_METHODS } from '../operations/datasets.ts';
import type { Context } from './context.ts';
import { resolveLinks } from './document-links.ts';
import { fileReply } from './file-reply.ts';
import { preferredType } from './negotiate.ts';
import { pageReply } from './page-reply.ts';
import { documentPage } from './pages/document.tsx';
import { bodyReply, emptyReply, jsonReply } from './reply.ts';
import type { Answer } from './route-table.ts';

/** What content needs beyond what every route has. */
export interface ContentReplyServices extends ContentServices {
  readonly config: { readonly content: { readonly trusted_html: boolean } };
}

const VARY = { Vary: 'Accept, Accept-Encoding' };

/** Content or media the caller may use; only read. Throws `method-not-allowed`, and as the operations. */
export async function contentReply(
  services: ContentReplyServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
  const { method } = context;
  if (method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  if (method !== 'GET' && method !== 'HEAD') {
    throw new AppError('method-not-allowed', 'Method Not Allowed', {
      headers: { allow: READ_METHODS },
    });
  }
  const isDownload = isOn(context, 'download');
  if (resource.family === 'media' && !isDownload) {
    if (isOn(context, 'metadata')) return metadataReply(services, context, resource);
    if (isOn(context, 'thumbnail')) return coverReply(services, context, resource);
  }
  if (resource.kind.render === undefined || isDownload)
    return fileReply(services, context, resource);
  const wantsSource =
    isOn(context, 'raw') ||
    preferredType(context.request.headers.get('accept'), ['text/html', 'text/markdown']) ===
      'text/markdown';
  return wantsSource
    ? fileReply(services, context, resource)
    : documentReply(services, context, resource);
}

async function documentReply(
  services: ContentReplyServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
  const { rel } = resource;
  const document = await services.documents.rendered(resource);
  const body = resolveLinks(document.body, {
    path: context.path,
    rel,
    familyOf: (target) => services.documents.familyOf(target),
  });
  const reply = pageReply(context, documentPage, {
    ...document,
    title: document.title ?? fileNameOf(stemOf(rel)),
    body,
    rel,
  });
  // The frame names the reader, so the page has a version for each of them.
  return { ...reply, headers: { ...reply.headers, ...VARY }, etag: etagOf(String(reply.body)) };
}

async function metadataReply(
  services: ContentReplyServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
  const description = await describeMedia(services, resource);
  const etag = etagOf(JSON.stringify(description));
  if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
  return jsonReply(description, { etag, headers: VARY });
}

/** The embedded cover as an image, so that pages need not carry it. Throws `not-found` when there is none. */
async function coverReply(
  services: ContentReplyServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
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
