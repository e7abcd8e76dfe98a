/**
 * Uploads into the document root: right, mode and switch are checked first, then the file; then it gets its owner.
 * Every outcome is audited.
 */
import type { App } from '../../app.ts';
import { type Grants, grantsCover, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller, Principal } from '../../accounts/rights/principal.ts';
import { DOCROOT_BOUNDARY } from '../../accounts/rights/resource-names.ts';
import {
  type CreatedUpload,
  giveToUploader,
  promiseToUploader,
  withdrawPromise,
} from '../../accounts/rights/upload-groups.ts';
import { AppError } from '../../base/errors.ts';
import type { Config } from '../../config/settings.ts';
import type { UploadField, UploadOrder, UploadRules } from '../../docroot/uploads/uploads.ts';
import { uploadTooLarge } from '../../docroot/uploads/upload-content.ts';
import { type Origin, record } from '../access.ts';

export interface UploadResult {
  readonly path: string;
  readonly size: number;
  readonly mime_type: string;
  readonly checksum: string;
  readonly operation: 'created' | 'overwritten';
}

/** Audited in place of a name that was never known. */
const NO_NAME = '<missing>';

export async function mayUpload(services: App, caller: Caller, folder = ''): Promise<boolean> {
  return caller !== null && (await refusalOf(services, caller, folder)) === null;
}

/** Absent members: at the top of the document root, by the rules of uploads. */
export interface UploadPlace extends Partial<Pick<UploadOrder, 'folder' | 'base' | 'acquire'>> {
  /** Null: the caller may do it now. */
  readonly refusal?: () => Promise<AppError | null>;
  readonly rules?: Partial<UploadRules>;
}

/**
 * Resolves when the file is durable, published and given to its uploader. `fields` null: the body is no form. Throws
 * `permission-denied`, `read-only`, and as `Uploads.store`; failures of the server are `upload-failed`. A new file
 * that is in place belongs to its uploader even when something fails afterwards. What `beforeNaming` throws abandons
 * the upload, whose file has come in.
 */
export async function uploadFile(
  services: App,
  caller: Principal,
  origin: Origin,
  fields: AsyncIterable<UploadField> | null,
  beforeNaming: () => Promise<void>,
  place: UploadPlace = {},
): Promise<UploadResult> {
  const {
    folder = '',
    refusal = () => refusalOf(services, caller, folder),
    rules,
    ...order
  } = place;
  await requireUpload(services, caller, origin, refusal);
  let name = NO_NAME;
  let promised = null as { readonly resource: string | null } | null;
  let isKept = false;
  const { db } = services;
  const { userId } = caller;
  try {
    const stored = await services.uploads.store({
      ...order,
      fields,
      folder,
      owner: caller.username,
      userId,
      rules: { ...uploadRules(services.config.upload), ...rules },
      onName: (found) => (name = found),
      onCreate: async (filename, resource) => {
        promised = { resource };
        await promiseToUploader(db, { filename, userId, resource });
      },
      onNaming: async () => {
        await beforeNaming();
        const gone = await refusal();
        if (gone !== null) throw gone;
      },
      onPlaced: (isNew) => {
        isKept = isNew;
        services.feed.attribute(name, caller.username, isNew ? 'added' : 'replaced');
      },
    });
    const operation = stored.isNew ? 'created' : 'overwritten';
    if (stored.isNew) {
      await give(services, { filename: name, userId, resource: stored.ownText }, promised);
    } else if (promised !== null) await withdraw(services, name);
    await record(
      services,
      { user: caller, origin },
      'upload_success',
      name,
      `${operation} ${name}`,
    );
    const { size, sniffed, checksum } = stored;
    return { path: stored.name, size, mime_type: sniffed, checksum, operation };
  } catch (error) {
    const failure = failureOf(error);
    if (promised !== null && !isKept) await withdraw(services, name);
    if (failure.code === 'upload-failed') services.log.error('upload failed', { name, error });
    await record(services, { user: caller, origin }, 'upload_failed', name, failure.message);
    throw failure;
  }
}

/**
 * Turns the stored promise of ownership into permissions once the file is in place. If that fails the promise
 * remains: it names the same owner and rights, and the next start fulfils it.
 */
async function give(
  { db, log }: App,
  upload: CreatedUpload,
  promised: { readonly resource: string | null } | null,
): Promise<void> {
  try {
    await giveToUploader(db, upload);
  } catch (error) {
    if (promised?.resource !== upload.resource) throw error;
    log.warning('an upload stays promised to its owner', { name: upload.filename, error });
  }
}

/** The upload's outcome is reported even if this fails: the next start withdraws the promise. */
async function withdraw({ db, log }: App, name: string): Promise<void> {
  try {
    await withdrawPromise(db, name);
  } catch (error) {
    log.warning('a promise to the owner of an upload stays until the next start', { name, error });
  }
}

/** For uploads refused before their form was read, also by the HTTP layer. */
export async function noteDeniedUpload(
  services: Pick<App, 'audit'>,
  caller: Caller,
  origin: Origin,
  reason: AppError,
): Promise<void> {
  await record(services, { user: caller, origin }, 'upload_denied', NO_NAME, reason.message);
}

/** Throws, audited, for who may not upload now. */
export async function requireUpload(
  services: App,
  caller: Principal,
  origin: Origin,
  refusal: () => Promise<AppError | null>,
): Promise<void> {
  const reason = await refusal();
  if (reason === null) return;
  await noteDeniedUpload(services, caller, origin, reason);
  throw reason;
}

/** Null: the caller may upload into that folder now. */
export async function refusalOf(
  services: App,
  caller: Principal,
  folder: string,
): Promise<AppError | null> {
  const { config } = services;
  if (!mayPlace(await loadGrants(services.db, caller), folder)) {
    const place = folder === '' ? 'document root' : folder;
    return new AppError('permission-denied', `Permission denied: write on ${place}`);
  }
  if (config.readonly) {
    const headers = { Allow: 'GET, HEAD, OPTIONS' };
    return new AppError('read-only', 'Server is in read-only mode', { headers });
  }
  if (config.upload.enabled) return null;
  return new AppError('permission-denied', 'Uploads are disabled');
}

/**
 * New names in a folder are given by who may write all that lies in it; at the top by who holds the right to upload,
 * which no other right includes.
 */
export function mayPlace(grants: Grants, folder: string): boolean {
  return grantsCover(grants, [folder === '' ? DOCROOT_BOUNDARY : `${folder}/`], 'write');
}

export function uploadRules(upload: Config['upload']): UploadRules {
  return {
    maxBytes: upload.max_size_bytes,
    overwrites: upload.collision_policy === 'overwrite',
    isStrict: upload.strict_mime_sniffing,
    allowedTypes: upload.allowed_mime_types,
    allowedExtensions: upload.allowed_extensions,
    deniedExtensions: upload.denied_extensions,
    allowsHandlers: upload.allow_handlers,
  };
}

function failureOf(error: unknown): AppError {
  if (!(error instanceof AppError) || error.code === 'internal') {
    return new AppError('upload-failed', 'Upload failed', { cause: error });
  }
  // The other fields can exceed their limit too.
  return error.code === 'too-large' ? uploadTooLarge() : error;
}
