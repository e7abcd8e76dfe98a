/**
 * Restores a backup: everything is unpacked and checked beside its place first, then moved into place; what was there
 * is moved aside, never deleted.
 *
 * The moves are written down before the first one (RESTORE_MARKER); while that file exists the state cannot be
 * opened. A failed restore undoes them; a killed one is undone by the next.
 */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, mkdir, open, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { AppError, errnoOf } from '../base/errors.ts';
import { isAbsence } from '../base/files/file-stamp.ts';
import { shortId } from '../base/ids.ts';
import { syncPath } from '../base/files/atomic-file.ts';
import { bindToFile } from './moved-copy.ts';
import { COMPANION_FOLDER, isAtOrBelow } from '../docroot/document-root.ts';
import { VERSIONS_FOLDER } from '../docroot/file-versions.ts';
import { PARTS_FOLDER } from '../events/parts/part-format.ts';
import { EVENTS_FILE } from '../events/store/schema.ts';
import { derivedIn, removeDerived } from '../store/leftovers.ts';
import { DATABASE_FILE, RESTORE_MARKER, SECRET_FILE } from '../store/state-files.ts';
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
import { isThere, type Step, take, takeBack } from './moves.ts';

interface RestoreOrder {
  readonly source: () => Readable;
  readonly docroot: string;
  /** Locked by the caller, so that no server runs on it. */
  readonly stateDir: string;
  /** Moves existing data aside; else an existing state or a differing file is refused. */
  readonly replaces: boolean;
  readonly newestSchema: number;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly files: number;
  /** Folders with the previous data; empty when there was none. */
  readonly movedAside: readonly string[];
}

/** A larger entry is no manifest or list of sums. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
/** Built again. */
const DERIVED = [TABLES, 'search', 'run', 'tmp'];
const STAGING = /^restoring-[0-9a-f]{16}(?:-companions)?$/;

/**
 * Undoes a killed restore first. Throws `bad-request` for an archive that is no backup, damaged or newer, `conflict`
 * for existing data; then everything is as before.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { docroot, stateDir } = order;
  await undoRestore(order);
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
    return { manifest, files: places.length, movedAside };
  } finally {
    removeStaging(order);
    const companions = join(docroot, COMPANION_FOLDER);
    if (existsSync(companions) && readdirSync(companions).length === 0) rmdirSync(companions);
  }
}

/** Also of killed restores; one that could not be undone keeps its folder, which its steps name. */
function removeStaging({ docroot, stateDir }: RestoreOrder): void {
  if (existsSync(join(stateDir, RESTORE_MARKER))) return;
  for (const folder of [stateDir, join(docroot, COMPANION_FOLDER)]) {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names.filter((one) => STAGING.test(one)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Errors of gzip and tar mean a damaged archive; those of the disk are passed on. */
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

/** Links come last and nothing is unpacked below one, so no entry is written through a link to elsewhere. */
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

/** Links stay inside the document root; others are left out, as they would not be served either. */
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

/** A file or broken link where a folder of the document root is needed. */
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
  order: RestoreOrder,
  staging: Readonly<Record<ArchivePart, string>>,
  places: readonly Place[],
  id: string,
): Promise<string[]> {
  const { docroot, stateDir } = order;
  const aside: Record<ArchivePart, string> = {
    state: join(stateDir, `before-restore-${id}`),
    companions: join(docroot, COMPANION_FOLDER, `before-restore-${id}-companions`),
    docroot: join(docroot, COMPANION_FOLDER, `before-restore-${id}`),
  };
  const steps = stepsOf(order, staging, places, aside);
  await writeDown(order, { docroot, aside: Object.values(aside), steps });
  try {
    for (const step of steps) await take(step);
    await bindTables(order, places);
    await syncPlaces(steps, order);
  } catch (error) {
    await undoRestore(order);
    throw error;
  }
  await forget(order);
  for (const name of DERIVED) removeDerived(join(aside.state, name));
  if (existsSync(aside.state) && readdirSync(aside.state).length === 0) rmdirSync(aside.state);
  return Object.values(aside).filter((folder) => existsSync(folder));
}

/** First what makes room. */
function stepsOf(
  { docroot, stateDir }: RestoreOrder,
  staging: Readonly<Record<ArchivePart, string>>,
  places: readonly Place[],
  aside: Readonly<Record<ArchivePart, string>>,
): Step[] {
  const leaving = new Map<string, string>();
  const leave = (path: string): unknown =>
    leaving.set(path, join(aside.state, relative(stateDir, path)));
  // Companions may be beside these files, and in folders of any of these names.
  for (const name of readdirSync(stateDir)) {
    const path = join(stateDir, name);
    const belongs =
      name.startsWith(DATABASE_FILE) || name.startsWith('events') || name === SECRET_FILE;
    const isOurs = [...DERIVED, PARTS_FOLDER, VERSIONS_FOLDER].includes(name);
    if (isOurs || (belongs && !isFolder(path))) derivedIn(path).forEach(leave);
  }
  const coming: Step[] = [];
  for (const place of places) {
    const { part, rel, path } = place;
    const staged = join(staging[part], rel);
    // A link to outside was not unpacked.
    if (!isThere(staged)) continue;
    const obstacle = inTheWay(docroot, place);
    if (obstacle !== null) leaving.set(join(docroot, obstacle), join(aside[part], obstacle));
    const [first = ''] = part === 'state' ? rel.split('/') : [];
    const leaves = leaving.has(path) || leaving.has(join(stateDir, first));
    const isFree = obstacle !== null || leaves || !isThere(path);
    coming.push({ path, aside: isFree ? null : join(aside[part], rel), staged });
  }
  return [...[...leaving].map(([path, to]) => ({ path, aside: to, staged: null })), ...coming];
}

interface Journal {
  readonly docroot: string;
  readonly aside: readonly string[];
  readonly steps: readonly Step[];
}

async function writeDown({ stateDir }: RestoreOrder, journal: Journal): Promise<void> {
  const marker = join(stateDir, RESTORE_MARKER);
  const draft = `${marker}.new`;
  writeFileSync(draft, JSON.stringify({ ...journal, stateDir }), { mode: 0o600 });
  await syncPath(draft);
  renameSync(draft, marker);
  await syncPath(stateDir);
}

async function forget({ stateDir }: RestoreOrder): Promise<void> {
  rmSync(join(stateDir, RESTORE_MARKER), { force: true });
  await syncPath(stateDir);
}

/** Throws when it fails; may be repeated. */
async function undoRestore(order: RestoreOrder): Promise<void> {
  const { docroot, stateDir } = order;
  const marker = join(stateDir, RESTORE_MARKER);
  if (existsSync(marker)) {
    const journal = JSON.parse(readFileSync(marker, 'utf8')) as Journal & { stateDir: string };
    if (journal.docroot !== docroot || journal.stateDir !== stateDir) {
      throw new AppError(
        'conflict',
        `A restore of '${journal.docroot}' with the state in '${journal.stateDir}' was killed and is to be taken back first: name ` +
          'both as they were then',
      );
    }
    for (const step of journal.steps.toReversed()) await takeBack(step);
    await syncPlaces(journal.steps, order);
    for (const folder of journal.aside) rmSync(folder, { recursive: true, force: true });
    await forget(order);
  }
  rmSync(`${marker}.new`, { force: true });
  removeStaging(order);
}

/** Everything must be on disk before the state may be opened again. */
async function syncPlaces(
  steps: readonly Step[],
  { docroot, stateDir }: RestoreOrder,
): Promise<void> {
  const folders = new Set<string>();
  for (const place of steps.flatMap(({ path, aside }) => [path, aside ?? path])) {
    let folder = dirname(place);
    while ([docroot, stateDir].some((root) => isAtOrBelow(folder, root)) && !folders.has(folder)) {
      folders.add(folder);
      folder = dirname(folder);
    }
  }
  for (const folder of folders) {
    if (!isFolder(folder)) continue;
    await syncPath(folder).catch((error: unknown) => {
      // Some file systems cannot.
      if (errnoOf(error) !== 'EINVAL') throw error;
    });
  }
}

/** Removes copies of another version of their file, which would only be in the way. */
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
    return false;
  }
}
