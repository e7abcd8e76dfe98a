/** A published file as an answer; read again when it changes while it is read. */
import { fstatSync } from 'node:fs';
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { sameContent, stampOf } from '../../base/files/file-stamp.ts';
import { fileNameOf } from '../../base/paths.ts';
import { attachment, inline } from '../../tables/encode/download-name.ts';
import { type Documents, versionOf } from '../../docroot/documents.ts';
import type { OpenedFile } from '../../docroot/opener.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../context.ts';
import {
  closeWhenSent,
  type RangedAnswer,
  type RangedContent,
  rangedAnswer,
} from './ranged-reply.ts';
import type { Answer } from './reply.ts';

/** Then it is sent as last read. */
const MAX_ATTEMPTS = 8;
/** Documents that can run scripts; these have a policy of their own. */
const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'image/svg+xml']);
const OTHER_ACTIVE_TYPES = /^(?:text\/xml|application\/xml|application\/.*\+xml)$/;

const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups; ';
const PAGE_POLICY = "base-uri 'none'; object-src 'none'; frame-ancestors 'none'";
const INERT_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

interface FileServices {
  readonly documents: Documents;
  readonly config: { readonly content: { readonly trusted_html: boolean } };
}

/** Throws as `Documents.open`. */
export async function fileReply(
  services: FileServices,
  context: Context,
  resource: Resource,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const file = await services.documents.open(resource);
    let needs: RangedAnswer['needs'] = 'nothing';
    try {
      const made = await rangedAnswer(context, await contentOf(services, context, resource, file));
      if (made.needs !== 'nothing' || isUnchanged(file) || attempt === MAX_ATTEMPTS) {
        needs = made.needs;
        return made.answer;
      }
    } finally {
      await closeWhenSent(file, needs);
    }
  }
}

async function contentOf(
  { config, documents }: FileServices,
  context: Context,
  resource: Resource,
  file: OpenedFile,
): Promise<RangedContent> {
  const name = fileNameOf(resource.rel);
  const mediaType = mediaTypeOf(resource.rel);
  const isWanted = /^(?:true|1)$/i.test(context.queryValue('download') ?? '');
  const isDownload = isWanted || NOT_SHOWN.test(mediaType);
  const isUtf8 = mediaType.startsWith('text/') && (await documents.isUtf8(resource, file));
  const type = isUtf8 ? `${mediaType}; charset=utf-8` : mediaType;
  return {
    file,
    isUnchanged: () => isUnchanged(file),
    etag: versionOf(file.stamp),
    mayCompress: resource.kind.family === 'content',
    headers: {
      'Content-Type': type,
      'Content-Disposition': isDownload ? attachment(name) : inline(name),
      'Last-Modified': lastModifiedOf(file),
      'Accept-Ranges': 'bytes',
      Vary: 'Accept, Accept-Encoding',
      ...policyFor(mediaType, config.content.trusted_html && context.caller?.link === undefined),
    },
  };
}

/** Shown by no browser, or by one. */
const NOT_SHOWN = /^image\/(?:heic|heif|tiff)$/;

function policyFor(mediaType: string, isTrusted: boolean): Record<string, string> {
  if (PAGE_TYPES.has(mediaType)) {
    return { 'Content-Security-Policy': (isTrusted ? '' : SANDBOX) + PAGE_POLICY };
  }
  return OTHER_ACTIVE_TYPES.test(mediaType) ? { 'Content-Security-Policy': INERT_POLICY } : {};
}

function lastModifiedOf({ stamp }: OpenedFile): string {
  return new Date(Math.floor(Number(BigInt(stamp.mtimeNs) / 1_000_000n))).toUTCString();
}

function isUnchanged({ fd, stamp }: OpenedFile): boolean {
  return sameContent(stampOf(fstatSync(fd, { bigint: true })), stamp);
}
