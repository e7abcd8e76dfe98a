/**
 * Files as they were, byte for byte: what was replaced or deleted through the service, and putting it back.
 *
 * For those who may read and write the whole file; of a workbook that is every sheet.
 */
import { Readable } from 'node:stream';
import type { App } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { fileNameOf } from '../../base/paths.ts';
import { looksLikeText, readText } from '../../base/text/text-bytes.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { KeptContent } from '../../tables/history/change-log.ts';
import { type Origin, record, requireAccess } from '../access.ts';

/** The state right after a change, or at a time (RFC 3339). */
export type Moment = { readonly change: number } | { readonly time: string };

/** A content; `kept` null: that of the present file. */
export interface FileThen {
  readonly rel: string;
  readonly kept: KeptContent | null;
}

/** Of each side. */
const MAX_COMPARED_BYTES = 1 << 20;

export function changeAt(
  { changeLog }: App,
  { rel, sheet }: Pick<Resource, 'rel' | 'sheet'>,
  moment: Moment,
): Promise<number> {
  if ('change' in moment) return Promise.resolve(moment.change);
  return changeLog.lastAt({ rel, sheet }, moment.time);
}

/** The whole file of a resource, for a caller who may read and write all of it. Throws as `requireAccess`. */
export async function requireWholeFile(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
): Promise<Resource> {
  const whole = services.registry.original(resource.rel) ?? resource;
  const name = whole.canonical;
  await requireAccess(services, caller, origin, { name, resource: whole, verb: 'read' });
  return requireAccess(services, caller, origin, { name, resource: whole, verb: 'write' });
}

/**
 * Throws `gone` when it is not kept: it was forgotten, was too large, or only its rows are known because they were
 * edited in place.
 */
export async function contentAt({ changeLog }: App, rel: string, id: number): Promise<FileThen> {
  const end = await changeLog.endOf({ rel, sheet: null });
  if (end !== null && id < end.id) {
    throw new AppError('gone', `What is kept of '${rel}' begins after ${end.at}`);
  }
  const later = await changeLog.changedAfter(rel, id);
  if (later === null) return { rel, kept: null };
  if (later.version !== null) return { rel, kept: later.version };
  const text =
    later.rows === 0
      ? `What '${rel}' held before change ${later.id} was too large to be kept`
      : `The bytes of '${rel}' before change ${later.id} are not kept, only its rows: ask for them with at`;
  throw new AppError('gone', text);
}

export async function openContent(
  { versions, documents, registry }: App,
  { rel, kept }: FileThen,
): Promise<{ readonly size: number; readonly body: Readable }> {
  if (kept !== null) return { size: kept.size, body: await versions.read(kept) };
  const resource = registry.list().find((one) => one.rel === rel);
  if (resource === undefined) throw new AppError('not-found', 'Not Found');
  const file = await documents.open(resource);
  const { size } = file;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < size; at += COPIED_BYTES) yield await file.read(at, COPIED_BYTES);
    } finally {
      await file.close();
    }
  }
  const body = Readable.from(chunks());
  // Also when nobody begins to read.
  body.once('close', () => void file.close());
  return { size, body };
}
const COPIED_BYTES = 262_144;

/**
 * The file becomes what it was then, as a new change; false when it is that already. The caller may write the whole
 * file. Throws as `contentAt`, `FileVersions.putBack`.
 */
export async function restoreContent(
  services: App,
  caller: Principal,
  origin: Origin,
  resource: Resource,
  id: number,
): Promise<boolean> {
  const { registry, versions, cache, config } = services;
  const { rel } = resource;
  if (resource.type === 'handler' && !config.upload.allow_handlers) {
    throw new AppError(
      'permission-denied',
      'Programs are not put in place: see upload.allow_handlers',
    );
  }
  const then = await contentAt(services, rel, id);
  if (then.kept === null) return false;
  const { userId, username } = caller;
  const author = { userId, username, action: 'restore' };
  const isMade = await versions.putBack(rel, then.kept, author, async () => {
    await requireWholeFile(services, caller, origin, resource);
  });
  if (!isMade) return false;
  cache.drop(rel);
  await record(services, { user: caller, origin }, 'restore_version', rel, `As after change ${id}`);
  await registry.refresh([rel]);
  await registry.listed(rel);
  return true;
}

/** What a change did to a text, as a unified diff. Throws `gone`, and `too-large` for more than 1 MiB. */
export async function differenceOf(services: App, rel: string, id: number): Promise<string> {
  const [before, after] = await Promise.all([
    textAt(services, rel, id - 1),
    textAt(services, rel, id),
  ]);
  return services.workers.difference(fileNameOf(rel), before, after);
}

async function textAt(services: App, rel: string, id: number): Promise<string> {
  const { size, body } = await openContent(services, await contentAt(services, rel, id));
  if (size > MAX_COMPARED_BYTES) {
    body.destroy();
    throw new AppError('too-large', 'Texts of more than 1 MiB are not compared; download them');
  }
  const bytes = Buffer.concat((await body.toArray()) as Uint8Array[]);
  const source = {
    size: bytes.length,
    read: async (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
  if (!(await looksLikeText(source))) {
    throw new AppError('unsupported-media-type', 'This is no text: download it');
  }
  return readText(source, MAX_COMPARED_BYTES);
}
