/**
 * Restores a backup: everything is unpacked and checked beside its place first, then moved into place; what stood there is
 * moved aside, never deleted.
 *
 * svc.db goes first and comes last, and secret.key stands all the while: a restore that was killed leaves a state that the
 * server refuses, with the remedy, instead of an empty one. One that fails puts back what it has moved.
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  rm,
  rmdir,
  symlink,
  utimes,
} from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { AppError, errnoOf } from '../base/errors.ts';
import { isAbsence } from '../base/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import { syncPath } from '../base/sync-path.ts';
import { bindToFile } from '../dataset/moved-copy.ts';
import { COMPANION_FOLDER } from '../docroot/document-root.ts';
import { EVENTS_FILE } from '../events/schema.ts';
import { DATABASE_FILE, SECRET_FILE } from '../store/state-files.ts';
import {
  type ArchivePart,
  CHECKSUMS,
  MANIFEST,
  type Manifest,
  notBackup,
  parseManifest,
  requireKnown,
  splitEntryName,
} from './archive-format.ts';
import { TABLES } from './backup-contents.ts';
import { isThere, Moves } from './moves.ts';

interface RestoreOrder {
  /** Begins to read the archive. */
  readonly source: () => Readable;
  readonly docroot: string;
  /** Locked by the caller, so that no server runs on it. */
  readonly stateDir: string;
  /** Moves aside what is there already; else a state or a differing file there is a refusal. */
  readonly replaces: boolean;
  /** Newest schema of the state database this version knows. */
  readonly newestSchema: number;
}

/** What was restored. */
export interface Restored {
  readonly manifest: Manifest;
  readonly files: number;
  /** Paths of the folders with what was there before; empty when nothing was. */
  readonly movedAside: readonly string[];
}

/** A small text of the archive; more than that is no manifest. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
/** Derived from what is restored; made anew. */
const DERIVED = [TABLES, 'search', 'run', 'tmp'];

/**
 * Throws `bad-request` for an archive that is no backup, is damaged or newer, `conflict` for what is in the way, and the system's
 * errors; then everything is as it was.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { docroot, stateDir } = order;
  const id = shortId();
  const staging: Record<ArchivePart, string> = {
    state: join(stateDir, `restoring-${id}`),
    // On the disk of the files, so that moving is renaming.
    companions: join(docroot, COMPANION_FOLDER, `restoring-${id}-companions`),
    docroot: join(docroot, COMPANION_FOLDER, `restoring-${id}`),
  };
  try {
    const { manifest, entries, sums } = await unpack(order, staging).catch(refuseDamaged);
    const places = placesOf(order, entries);
    if (!order.replaces) await requireFree(order, places, sums);
    const movedAside = await putInPlace(order, staging, places, id);
    await bindTables(order, places);
    return { manifest, files: places.length, movedAside };
  } finally {
    for (const folder of Object.values(staging)) await rm(folder, { recursive: true, force: true });
    const companions = join(docroot, COMPANION_FOLDER);
    if (existsSync(companions) && (await readdir(companions)).length === 0) {
      await rm(companions, { recursive: true });
    }
  }
}

/** Whatever the readers of gzip and tar say, the archive is damaged; a failing disk is told as it is. */
function refuseDamaged(error: unknown): never {
  if (isAbsence(error)) throw new AppError('not-found', 'No such file');
  if (error instanceof AppError || errnoOf(error) !== undefined) throw error;
  throw Object.assign(notBackup(), { cause: error });
}

interface Entry {
  readonly part: ArchivePart;
  readonly rel: string;
}

interface Unpacked {
  readonly manifest: Manifest;
  readonly entries: readonly Entry[];
  /** SHA-256 by name of entry. */
  readonly sums: ReadonlyMap<string, string>;
}

async function unpack(
  order: RestoreOrder,
  staging: Readonly<Record<ArchivePart, string>>,
): Promise<Unpacked> {
  const sums = new Map<string, string>();
  const entries = new Map<string, Entry>();
  const links = new Map<string, Header>();
  let manifest: Manifest | null = null;
  let checksums: string | null = null;
  for await (const { header, stream } of entriesOf(order.source())) {
    const { name } = header;
    if (manifest === null) {
      if (name !== MANIFEST) throw notBackup();
      manifest = parseManifest(await readText(stream, sums, name));
      requireKnown(manifest, order.newestSchema);
    } else if (name === CHECKSUMS) {
      checksums = await readText(stream, new Map(), name);
    } else {
      const entry = splitEntryName(name);
      if (header.type === 'symlink') links.set(name, header);
      else sums.set(name, await unpackFile(stream, await freePath(staging, entry), header));
      entries.set(name, entry);
    }
  }
  await unpackLinks(links, entries, staging);
  if (manifest === null || checksums === null) throw notBackup();
  requireChecksums(checksums, sums);
  return { manifest, entries: [...entries.values()], sums };
}

/** Links come last and nothing stands below one, so that no entry is written through a link to somewhere else. */
async function unpackLinks(
  links: ReadonlyMap<string, Header>,
  entries: ReadonlyMap<string, Entry>,
  staging: Readonly<Record<ArchivePart, string>>,
): Promise<void> {
  for (const name of entries.keys()) {
    for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1)) {
      if (links.has(name.slice(0, end))) throw notBackup();
    }
  }
  for (const [name, header] of links) {
    const entry = entries.get(name)!;
    await unpackLink(header, await freePath(staging, entry), entry);
  }
}

/** Where an entry is unpacked; its folder is there, the path is not. */
async function freePath(
  staging: Readonly<Record<ArchivePart, string>>,
  { part, rel }: Entry,
): Promise<string> {
  const path = join(staging[part], rel);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  return path;
}

async function* entriesOf(file: Readable): AsyncGenerator<{ header: Header; stream: Readable }> {
  const archive = extract();
  const gunzip = createGunzip();
  file.on('error', (error) => gunzip.destroy(error));
  gunzip.on('error', (error) => archive.destroy(error));
  file.pipe(gunzip).pipe(archive as unknown as NodeJS.WritableStream);
  try {
    for await (const entry of archive) {
      yield { header: entry.header, stream: entry as unknown as Readable };
      entry.resume();
    }
  } finally {
    file.destroy();
  }
}

async function readText(
  stream: Readable,
  sums: Map<string, string>,
  name: string,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_TEXT_BYTES) throw notBackup();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  sums.set(name, createHash('sha256').update(bytes).digest('hex'));
  return bytes.toString('utf8');
}

async function unpackFile(stream: Readable, path: string, header: Header): Promise<string> {
  const hash = createHash('sha256');
  const handle: FileHandle = await open(path, 'wx', (header.mode ?? 0o600) & 0o777);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (header.mtime) await utimes(path, header.mtime, header.mtime);
  return hash.digest('hex');
}

/** Links stay inside the document root; others are left out, as they would not be served either (DS-24). */
async function unpackLink({ linkname }: Header, path: string, { part, rel }: Entry): Promise<void> {
  const target = linkname ?? '';
  const depth = rel.split('/').length - 1;
  const climbs = target.split('/').filter((segment: string) => segment === '..').length;
  if (part !== 'docroot' || target === '' || isAbsolute(target) || climbs > depth) return;
  await symlink(target, path);
}

function requireChecksums(text: string, sums: ReadonlyMap<string, string>): void {
  const expected = new Map(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(66), line.slice(0, 64)] as const),
  );
  const isEqual =
    expected.size === sums.size && [...expected].every(([name, sum]) => sums.get(name) === sum);
  if (!isEqual) throw notBackup();
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) hash.update(chunk);
  return hash.digest('hex');
}

interface Place extends Entry {
  /** Where the entry belongs. */
  readonly path: string;
}

/** In the order of moving. */
function placesOf({ docroot, stateDir }: RestoreOrder, entries: readonly Entry[]): Place[] {
  const folders: Record<ArchivePart, string> = {
    state: stateDir,
    companions: join(docroot, COMPANION_FOLDER),
    docroot,
  };
  const rank = ({ part, rel }: Entry): number =>
    part !== 'state' ? 0 : rel === SECRET_FILE ? 2 : rel === DATABASE_FILE ? 3 : 1;
  return entries
    .map((entry) => ({ ...entry, path: join(folders[entry.part], entry.rel) }))
    .sort((a, b) => rank(a) - rank(b));
}

async function requireFree(
  { docroot, stateDir }: RestoreOrder,
  places: readonly Place[],
  sums: ReadonlyMap<string, string>,
): Promise<void> {
  const force = 'use --force to move it aside';
  for (const name of [DATABASE_FILE, SECRET_FILE, EVENTS_FILE]) {
    if (existsSync(join(stateDir, name))) {
      throw new AppError('conflict', `The state directory already holds ${name}: ${force}`);
    }
  }
  for (const place of places) {
    const { part, rel, path } = place;
    const obstacle = inTheWay(docroot, place);
    if (obstacle !== null)
      throw new AppError(
        'conflict',
        `'${obstacle}' is no folder and in the way of '${rel}': ${force}`,
      );
    if (part === 'state' || !existsSync(path)) continue;
    if ((await sha256Of(path)) !== sums.get(`${part}/${rel}`))
      throw new AppError('conflict', `'${rel}' is there already and differs: ${force}`);
  }
}

/** What stands where a folder of the document root is needed for this entry: a file, or a link that leads nowhere. */
function inTheWay(docroot: string, { part, rel }: Entry): string | null {
  if (part !== 'docroot') return null;
  for (let end = rel.indexOf('/'); end >= 0; end = rel.indexOf('/', end + 1)) {
    const folder = rel.slice(0, end);
    if (!isThere(join(docroot, folder))) return null;
    if (!isFolder(join(docroot, folder))) return folder;
  }
  return null;
}

async function putInPlace(
  { docroot, stateDir }: RestoreOrder,
  staging: Readonly<Record<ArchivePart, string>>,
  places: readonly Place[],
  id: string,
): Promise<string[]> {
  const aside: Record<ArchivePart, string> = {
    state: join(stateDir, `before-restore-${id}`),
    companions: join(docroot, COMPANION_FOLDER, `before-restore-${id}-companions`),
    docroot: join(docroot, COMPANION_FOLDER, `before-restore-${id}`),
  };
  const moves = new Moves();
  const secret = join(stateDir, SECRET_FILE);
  const isLast = ({ part, rel }: Entry): boolean => part === 'state' && rel === DATABASE_FILE;
  try {
    // svc.db before its log: without the log it would be taken for a whole one.
    for (const name of (await readdir(stateDir)).sort()) {
      const belongs = name.startsWith(DATABASE_FILE) || name.startsWith('events');
      const isAside = belongs || DERIVED.includes(name);
      if (isAside) await moves.move(join(stateDir, name), join(aside.state, name));
    }
    for (const group of [places.filter((one) => !isLast(one)), places.filter(isLast)]) {
      for (const place of group) {
        const { part, rel, path } = place;
        const staged = join(staging[part], rel);
        // A link that would lead outside was not unpacked.
        if (!isThere(staged)) continue;
        const obstacle = inTheWay(docroot, place);
        if (obstacle !== null)
          await moves.move(join(docroot, obstacle), join(aside[part], obstacle));
        if (path === secret) await moves.replace(staged, path, join(aside[part], rel));
        else await moves.place(staged, path, join(aside[part], rel));
      }
      // Before svc.db says so, everything else is there, whatever happens to the power.
      for (const folder of foldersOf(group)) await syncPath(folder);
    }
    const hasSecret = places.some(({ path }) => path === secret);
    if (!hasSecret && isThere(secret)) await moves.move(secret, join(aside.state, SECRET_FILE));
  } catch (error) {
    await moves.undo();
    for (const folder of Object.values(aside)) await rm(folder, { recursive: true, force: true });
    throw error;
  }
  for (const name of DERIVED) await rm(join(aside.state, name), { recursive: true, force: true });
  if (existsSync(aside.state) && (await readdir(aside.state)).length === 0)
    await rmdir(aside.state);
  return Object.values(aside).filter((folder) => existsSync(folder));
}

/** The folders that places stand in, up to those of their parts. */
function foldersOf(places: readonly Place[]): Set<string> {
  const folders = new Set<string>();
  for (const { path, rel } of places) {
    let folder = path;
    for (const _ of rel.split('/')) {
      folder = dirname(folder);
      if (existsSync(folder)) folders.add(folder);
    }
  }
  return folders;
}

/** Copies whose file is not the one they were made of would only be in the way. */
async function bindTables({ docroot }: RestoreOrder, places: readonly Place[]): Promise<void> {
  for (const { part, rel, path } of places) {
    if (part !== 'state' || !rel.startsWith(`${TABLES}/`)) continue;
    const isBound = await bindToFile(path, (name) => join(docroot, name), Date.now());
    if (!isBound) await rm(path, { force: true });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A link that leads nowhere, or around in a circle.
    return false;
  }
}
