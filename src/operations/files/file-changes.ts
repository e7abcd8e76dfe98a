/**
 * Files and folders as a whole: what lies in a folder, and new folders, moves, deletions, restores and new contents.
 *
 * A file is changed by who may read and write it, a folder by who may read and write all that lies in it; new names
 * need the right of `mayPlace`. A right is checked before existence, and every change is audited. Rights belong to
 * addresses: a moved file has those of its new place, and only what its uploader holds as such goes with it.
 */
import { posix } from 'node:path';
import type { App } from '../../app.ts';
import { type Grants, grantsCover, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller, Principal, Verb } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { versionOf } from '../../docroot/documents.ts';
import { storeCompanion, companionTexts, companionPaths } from '../../docroot/companions.ts';
import type { MoveOrder } from '../../docroot/moves/file-moves.ts';
import type { TrashEntry } from '../../docroot/moves/trash.ts';
import type { OpenedFile } from '../../docroot/opener.ts';
import type { Kind } from '../../docroot/kind.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Chunks } from '../../docroot/uploads/upload-content.ts';
import type { UploadField } from '../../docroot/uploads/uploads.ts';
import { mayAccess, type Origin, permissionNames, record } from '../access.ts';
import { mayPlace, refusalOf, uploadFile, type UploadPlace, uploadRules } from './uploads.ts';

export interface Changer {
  readonly services: App;
  readonly user: Principal;
  readonly origin: Origin;
  /** Files of no kind too, which have no address of their own. */
  readonly seesAll?: boolean;
}

/** A published file as a whole; of a workbook that of all its sheets. */
export interface FolderEntry {
  /** As on disk, relative to the document root. */
  readonly rel: string;
  /** Null: a folder. */
  readonly resource: Resource | null;
}

/** Locks that the caller holds himself. */
export type HeldLocks = Pick<MoveOrder, 'acquire' | 'holds'>;

/** The file with that path; null without one. Names are compared in NFC. */
async function fileAt(
  { services, seesAll }: Pick<Changer, 'services' | 'seesAll'>,
  path: string,
): Promise<Resource | null> {
  const name = path.normalize('NFC');
  const found = services.registry.list().find(({ rel }) => rel.normalize('NFC') === name);
  if (found !== undefined) return wholeOf(services, found);
  if (seesAll !== true) return null;
  const rel = await services.moves.spelled(path);
  return services.moves.isPlainFile(rel) ? unpublished(rel) : null;
}

function unpublished(rel: string): Resource {
  const name = rel.normalize('NFC');
  const names = { canonical: name, extensionForm: name };
  return {
    ...names,
    rel,
    sheet: null,
    type: 'file',
    family: 'content',
    kind: OTHER,
    problem: null,
  };
}

/** Nothing is known of its content. */
const OTHER: Kind = { type: 'file', family: 'content', extensions: [] };

function wholeOf({ registry }: Pick<App, 'registry'>, resource: Resource): Resource {
  return registry.original(resource.rel) ?? resource;
}

/** Handlers show their text to nobody. */
function mayRead(grants: Grants, resource: Resource): boolean {
  return resource.type !== 'handler' && mayAccess(grants, resource, 'read');
}

function mayTouchFolder(grants: Grants, folder: string, verb: Verb): boolean {
  return grantsCover(grants, [folder === '' ? '*' : `${folder}/`], verb);
}

/**
 * What the caller may see in a folder, folders first; null where there is nothing he may know of. Folders without
 * anything readable are shown to who may read all in them.
 */
export async function listFolder(
  { services, user, seesAll }: Omit<Changer, 'origin'>,
  path: string,
): Promise<readonly FolderEntry[] | null> {
  const { registry, moves, db } = services;
  const grants = await loadGrants(db, user);
  const folder = await moves.spelled(path);
  const start = folder === '' ? 0 : folder.length + 1;
  const folders = new Set<string>();
  const files = new Map<string, FolderEntry>();
  for (const resource of registry.list()) {
    const { rel } = resource;
    if (start > 0 && !rel.startsWith(`${folder}/`)) continue;
    const slash = rel.indexOf('/', start);
    const name = slash < 0 ? rel : rel.slice(0, slash);
    if (slash < 0 ? files.has(rel) : folders.has(name)) continue;
    const whole = wholeOf(services, resource);
    if (!mayRead(grants, whole)) continue;
    if (slash < 0) files.set(rel, { rel, resource: whole });
    else folders.add(name);
  }
  if (seesAll === true) {
    for (const name of await moves.filesIn(folder)) {
      const rel = folder === '' ? name : `${folder}/${name}`;
      const resource = files.has(rel) ? null : unpublished(rel);
      if (resource !== null && mayRead(grants, resource)) files.set(rel, { rel, resource });
    }
  }
  const isOpen = mayTouchFolder(grants, folder, 'read') || mayTouchFolder(grants, folder, 'write');
  if (isOpen && moves.isFolder(folder)) {
    for (const name of await moves.foldersIn(folder))
      folders.add(folder === '' ? name : `${folder}/${name}`);
  } else if (folder !== '' && folders.size === 0 && files.size === 0) return null;
  const byName = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
  return [
    ...[...folders].sort(byName).map((rel) => ({ rel, resource: null })),
    ...[...files.values()].sort((a, b) => byName(a.rel, b.rel)),
  ];
}

/** Of a folder, or of the file at `path`. */
export interface FileRights {
  /** Rename, move, delete. */
  readonly mayMove: boolean;
  readonly mayWrite: boolean;
  /** New names in it, or beside it. */
  readonly mayPlace: boolean;
}

/** Asks the rights of the caller once. Whoever has a link changes no files. */
export async function fileRights(
  services: App,
  caller: Caller,
): Promise<(entry: FolderEntry) => FileRights> {
  const { config, db } = services;
  const isOn = config.files.changes && !config.readonly;
  if (caller === null || caller.link !== undefined || !isOn) return () => NO_RIGHTS;
  const grants = await loadGrants(db, caller);
  return ({ rel, resource }) => {
    const whole = resource === null ? null : wholeOf(services, resource);
    const may = (verb: Verb): boolean =>
      whole === null ? mayTouchFolder(grants, rel, verb) : mayAccess(grants, whole, verb);
    const isCode = whole?.type === 'handler' && !config.upload.allow_handlers;
    return {
      mayWrite: may('write') && !isCode,
      mayMove: rel !== '' && may('read') && may('write') && !isCode,
      mayPlace: mayPlace(grants, whole === null ? rel : folderOf(rel)),
    };
  };
}

const NO_RIGHTS: FileRights = { mayMove: false, mayWrite: false, mayPlace: false };

/** The folder is there and the caller may know it: something in it is readable, or all in it is his to read or write. */
export async function knowsFolder(
  services: App,
  caller: Principal,
  folder: string,
): Promise<boolean> {
  if (!services.moves.isFolder(folder) || caller.link !== undefined) return false;
  const grants = await loadGrants(services.db, caller);
  return mayTouchFolder(grants, folder, 'read') || mayTouchFolder(grants, folder, 'write');
}

/**
 * The file or folder at `path`, which the caller may read, or read and write. Throws `permission-denied`, audited, also
 * for what is not there; `not-found` to who may know.
 */
export async function requireEntry(
  changer: Changer,
  path: string,
  verbs: readonly Verb[],
): Promise<FolderEntry> {
  const { services, user } = changer;
  const { db, moves } = services;
  const grants = await loadGrants(db, user);
  let resource = await fileAt(changer, path);
  const rel = resource?.rel ?? (await moves.spelled(path));
  const isFolder = resource === null && moves.isFolder(rel);
  if (resource === null && !isFolder) {
    // It may have come a moment ago.
    await services.registry.refresh([rel]);
    resource = await fileAt(changer, path);
  }
  for (const verb of verbs) {
    const isAllowed =
      resource === null
        ? mayTouchFolder(grants, rel, verb) || (!isFolder && grantsCover(grants, [rel], verb))
        : mayAccess(grants, resource, verb);
    if (!isAllowed) await deny(changer, path, verb);
  }
  if (verbs.includes('write')) requireFileChanges(services);
  if (resource === null && !isFolder) throw new AppError('not-found', 'Not Found');
  return { rel, resource };
}

/** Whatever became of it, the caller may still write at that path. Throws `permission-denied`. */
export async function requireStake(changer: Changer, path: string): Promise<void> {
  const grants = await loadGrants(changer.services.db, changer.user);
  const resource = await fileAt(changer, path);
  const names = resource === null ? [`${path}/`, path] : permissionNames(resource);
  const isHeld = grantsCover(grants, names, 'write') || mayPlace(grants, folderOf(path));
  if (!isHeld) await deny(changer, path, 'write');
}

async function deny({ services, user, origin }: Changer, path: string, verb: Verb): Promise<never> {
  await record(services, { user, origin }, 'permission_denied', path, verb);
  throw new AppError('permission-denied', `Permission denied: ${verb} on ${path}`);
}

/** Throws `permission-denied` and `read-only` while whole files may not be changed. */
export function requireFileChanges({ config }: Pick<App, 'config'>): void {
  if (config.readonly) {
    const headers = { Allow: 'GET, HEAD, OPTIONS' };
    throw new AppError('read-only', 'Server is in read-only mode', { headers });
  }
  if (config.files.changes) return;
  throw new AppError('permission-denied', 'Changes of whole files are switched off', {
    hint: 'Whoever runs this server can set files.changes.',
  });
}

/** Where the caller may give a new name. Throws `permission-denied`, audited. */
async function requirePlace(changer: Changer, to: string): Promise<string> {
  const { services, user } = changer;
  const rel = posix.join(await services.moves.spelled(folderOf(to)), posix.basename(to));
  const grants = await loadGrants(services.db, user);
  if (!mayPlace(grants, folderOf(rel))) await deny(changer, to, 'write');
  return rel;
}

/** `''` at the top. */
export function folderOf(rel: string): string {
  const slash = rel.lastIndexOf('/');
  return slash < 0 ? '' : rel.slice(0, slash);
}

/** Throws as `requirePlace` and `FileMoves.createFolder`. */
export async function createFolder(changer: Changer, path: string): Promise<void> {
  const { services, user, origin } = changer;
  const rel = await requirePlace(changer, path);
  requireFileChanges(services);
  await services.moves.createFolder(rel);
  await record(services, { user, origin }, 'create_folder', rel, `Created folder ${rel}`);
}

/** To a name that is free. Throws as `requireEntry`, `requirePlace` and `FileMoves.move`. */
export async function moveEntry(
  changer: Changer,
  from: string,
  to: string,
  held: HeldLocks = {},
): Promise<string> {
  const { services, user, origin } = changer;
  const { rel } = await requireEntry(changer, from, ['read', 'write']);
  const target = await requirePlace(changer, to);
  await services.moves.move(rel, target, {
    ...orderOf(changer, held),
    beforeMove: async () => {
      await requireEntry(changer, from, ['read', 'write']);
      await requirePlace(changer, to);
    },
  });
  await record(services, { user, origin }, 'move_file', rel, `Moved ${rel} to ${target}`);
  return target;
}

/** Into the trash. Throws as `requireEntry` and `FileMoves.remove`. */
export async function deleteEntry(
  changer: Changer,
  path: string,
  held: HeldLocks = {},
): Promise<TrashEntry> {
  const { services, user, origin } = changer;
  const { rel } = await requireEntry(changer, path, ['read', 'write']);
  const entry = await services.moves.remove(rel, {
    ...orderOf(changer, held),
    beforeMove: async () => void (await requireEntry(changer, path, ['read', 'write'])),
  });
  await record(services, { user, origin }, 'delete_file', rel, `Moved ${rel} to the trash`);
  return entry;
}

function orderOf({ services, user }: Changer, held: HeldLocks): Omit<MoveOrder, 'beforeMove'> {
  return {
    ...held,
    owner: user.username,
    userId: user.userId,
    rules: uploadRules(services.config.upload),
  };
}

/** Newest first: what the caller could have deleted himself. */
export async function listTrash({ services, user }: Changer): Promise<readonly TrashEntry[]> {
  const grants = await loadGrants(services.db, user);
  return services.moves.trash.list().filter((entry) => mayRestore(grants, entry));
}

function mayRestore(grants: Grants, { rel, isFolder }: TrashEntry): boolean {
  const name = isFolder ? `${rel}/` : rel;
  // Of a workbook the right is one on all of its sheets.
  return (['read', 'write'] as const).every(
    (verb) =>
      grantsCover(grants, [name], verb) || (!isFolder && grantsCover(grants, [`${name}/`], verb)),
  );
}

/** To where it was unless `to` is given. Throws `not-found`, and as `moveEntry`. */
export async function restoreEntry(
  changer: Changer,
  id: string,
  to: string | null,
): Promise<string> {
  const { services, user, origin } = changer;
  requireFileChanges(services);
  const entry = await trashEntry(changer, id);
  const target = await requirePlace(changer, to ?? entry.rel);
  await services.moves.restore(entry, target, {
    ...orderOf(changer, {}),
    beforeMove: async () => void (await requirePlace(changer, target)),
  });
  const details = `Restored ${entry.rel} from the trash${target === entry.rel ? '' : ` as ${target}`}`;
  await record(services, { user, origin }, 'restore_file', target, details);
  return target;
}

/** For good; only for superusers. Throws `not-found`. */
export async function purgeEntry(changer: Changer, id: string): Promise<void> {
  const { services, user, origin } = changer;
  if (!user.isSuperuser) {
    throw new AppError('permission-denied', 'Superuser privileges required');
  }
  requireFileChanges(services);
  const entry = await trashEntry(changer, id);
  services.moves.trash.delete(entry);
  await record(
    services,
    { user, origin },
    'purge_file',
    entry.rel,
    `Deleted ${entry.rel} for good`,
  );
}

async function trashEntry({ services, user }: Changer, id: string): Promise<TrashEntry> {
  const entry = services.moves.trash.get(id);
  const grants = await loadGrants(services.db, user);
  if (entry !== null && mayRestore(grants, entry)) return entry;
  throw new AppError('not-found', 'Not Found');
}

export interface PutOrder {
  readonly content: Chunks;
  /** Declared media type; `''` for none. */
  readonly type: string;
  readonly maxBytes: number;
  /** Versions the file must have; `*`: any. Null: no condition. */
  readonly ifMatch: readonly string[] | null;
  /** The name must be free. */
  readonly isNew: boolean;
  readonly beforeNaming: () => Promise<void>;
  readonly acquire?: UploadPlace['acquire'];
}

/**
 * New content for a file that the caller may write, or a new file where he may upload. The file is replaced in one step,
 * or stays. Throws `precondition-failed` for another version, and as `uploadFile`.
 */
export async function putFile(
  changer: Changer,
  path: string,
  order: PutOrder,
): Promise<{ readonly rel: string; readonly isNew: boolean }> {
  const { services, user, origin } = changer;
  const { db, documents, moves } = services;
  const known = await fileAt(changer, path);
  const rel = known?.rel ?? posix.join(await moves.spelled(folderOf(path)), posix.basename(path));
  const folder = folderOf(rel);
  const refusal = async (): Promise<AppError | null> => {
    const now = await fileAt(changer, path);
    if (now === null) return refusalOf(services, user, folder);
    if (!mayAccess(await loadGrants(db, user), now, 'write')) {
      return new AppError('permission-denied', `Permission denied: write on ${path}`);
    }
    try {
      requireFileChanges(services);
      return null;
    } catch (error) {
      return error as AppError;
    }
  };
  const refused = await refusal();
  // Before the version is told.
  if (refused === null && order.isNew && known !== null) throw changed(path, null);
  const stamp =
    refused === null && order.ifMatch !== null && known !== null
      ? await documents.open(known).then(stampAndClose)
      : null;
  if (refused === null && order.ifMatch !== null) {
    const version = stamp === null ? null : versionOf(stamp);
    const isMet =
      version !== null && (order.ifMatch.includes('*') || order.ifMatch.includes(version));
    if (!isMet) throw changed(path, version);
  }
  const fields = fieldsOf(posix.basename(rel), order);
  const own = known === null ? {} : { allowedExtensions: [], deniedExtensions: [] };
  try {
    const { operation } = await uploadFile(services, user, origin, fields, order.beforeNaming, {
      folder,
      refusal,
      rules: { ...own, maxBytes: order.maxBytes, overwrites: !order.isNew },
      ...(stamp !== null && { base: stamp }),
      ...(order.acquire !== undefined && { acquire: order.acquire }),
    });
    return { rel, isNew: operation === 'created' };
  } catch (error) {
    const isConditional = order.isNew || order.ifMatch !== null;
    const isOther = error instanceof AppError && error.code === 'conflict';
    throw isConditional && isOther ? changed(path, null) : error;
  }
}

async function stampAndClose(file: OpenedFile): Promise<OpenedFile['stamp']> {
  await file.close();
  return file.stamp;
}

function changed(path: string, version: string | null): AppError {
  const headers: Record<string, string> = version === null ? {} : { ETag: `"${version}"` };
  return new AppError('precondition-failed', `Precondition failed: '${path}' has changed`, {
    headers,
  });
}

async function* fieldsOf(
  name: string,
  { content, type }: Pick<PutOrder, 'content' | 'type'>,
): AsyncGenerator<UploadField> {
  yield { name: 'filename', filename: null, type: '', content: once(name) };
  yield { name: 'file', filename: name, type, content };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const READ_BYTES = 256 * 1024;

/** A file to a name that is free, with its companions. Throws as `requireEntry` and `putFile`. */
export async function copyFile(
  changer: Changer,
  from: string,
  to: string,
  { acquire }: HeldLocks = {},
): Promise<void> {
  const { services } = changer;
  const { resource } = await requireEntry(changer, from, ['read']);
  if (resource === null || resource.type === 'handler')
    throw new AppError('not-found', 'Not Found');
  const { documents, registry } = services;
  const file = await documents.open(resource);
  try {
    const { rel } = await putFile(changer, to, {
      content: contentOf(file),
      type: '',
      maxBytes: Number.POSITIVE_INFINITY,
      ifMatch: null,
      isNew: true,
      beforeNaming: async () => void (await requireEntry(changer, from, ['read'])),
      ...(acquire !== undefined && { acquire: (name: string) => acquire(name, 'upload') }),
    });
    const touched: string[] = [];
    for (const one of registry.list().filter((each) => each.rel === resource.rel)) {
      const texts = await companionTexts(registry.root, registry.companionsOf(one));
      const places = companionPaths(rel, one.sheet, false);
      for (const kind of ['schema', 'options'] as const) {
        const text = texts[kind]?.text ?? null;
        const place = places[kind][0];
        if (text === null || place === undefined) continue;
        await storeCompanion(registry.root, place, text);
        touched.push(place);
      }
    }
    if (touched.length > 0) await registry.refresh(touched);
  } finally {
    await file.close();
  }
}

async function* contentOf(file: OpenedFile): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += READ_BYTES) {
    yield await file.read(at, Math.min(READ_BYTES, file.size - at));
  }
}

/** What listings say of a file. Null when it is gone. */
export async function factsOfFile(
  { documents }: Pick<App, 'documents'>,
  resource: Resource,
): Promise<{
  readonly size: number;
  readonly modifiedMs: number;
  readonly version: string;
} | null> {
  try {
    const { stamp } = await documents.open(resource).then(async (file) => {
      await file.close();
      return file;
    });
    return {
      size: stamp.size,
      modifiedMs: Math.floor(Number(BigInt(stamp.mtimeNs) / 1_000_000n)),
      version: versionOf(stamp),
    };
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
