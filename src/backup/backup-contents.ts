/**
 * Which files a backup holds. Derived ones (typed copies, search index, sockets) are left out and built again; but a
 * copy whose rows no longer have the numbers 1…n is kept, because nothing else holds their ids.
 */
import { Database } from 'bun:sqlite';
import { type FileHandle, link, lstat, mkdir, readdir, readlink, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unlessGone } from '../base/files/file-stamp.ts';
import { isTemporaryName } from '../base/files/temporary-files.ts';
import { bindToContent, fileOfOwnIds } from './moved-copy.ts';
import { isCompanion } from '../docroot/companions.ts';
import { ARRIVALS_FILE } from '../docroot/registry/arrivals.ts';
import { COMPANION_FOLDER, type DocumentRoot } from '../docroot/document-root.ts';
import { readParts } from '../events/parts/manifest.ts';
import { PARTS_FOLDER } from '../events/parts/part-format.ts';
import { EVENTS_FILE } from '../events/store/schema.ts';
import { DATABASE_FILE, SECRET_FILE } from '../store/state-files.ts';
import { VERSIONS_FOLDER } from '../docroot/file-versions.ts';
import type { ArchivePart } from './archive-format.ts';

export interface ArchiveFile {
  readonly part: ArchivePart;
  /** Below the part, with `/`. */
  readonly rel: string;
  readonly path: string;
  /** Null for a file. */
  readonly link: string | null;
}

/** Included as snapshots; other state files as they are. */
const DATABASES = [DATABASE_FILE, EVENTS_FILE];
const PLAIN_FILES = [SECRET_FILE, 'config.yaml', ARRIVALS_FILE];
/** After the database: what it names is there, unless it was forgotten meanwhile. */
const KEPT_FOLDERS = ['replaced', VERSIONS_FOLDER];
export const TABLES = 'tables';

/** Returns all files of the state. */
export async function snapshotState(stateDir: string, folder: string): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  for (const name of DATABASES) {
    const source = join(stateDir, name);
    if (!existsSync(source)) continue;
    const copy = join(folder, name);
    snapshot(source, copy);
    files.push({ part: 'state', rel: name, path: copy, link: null });
    if (name === EVENTS_FILE) files.push(...(await sealedEvents(stateDir, copy, folder)));
  }
  for (const name of PLAIN_FILES) {
    const path = join(stateDir, name);
    if (existsSync(path)) files.push({ part: 'state', rel: name, path, link: null });
  }
  for (const name of KEPT_FOLDERS) {
    for await (const { rel, path, link } of walk(join(stateDir, name))) {
      files.push({ part: 'state', rel: `${name}/${rel}`, path, link });
    }
  }
  return files;
}

/** Those of the snapshot. A second name keeps a file that is dropped before it was read. */
async function sealedEvents(
  stateDir: string,
  snapshotPath: string,
  folder: string,
): Promise<ArchiveFile[]> {
  using db = new Database(snapshotPath, { readonly: true });
  const files: ArchiveFile[] = [];
  for (const { file, no } of readParts(db)) {
    const rel = `${PARTS_FOLDER}/${file}`;
    const path = join(stateDir, rel);
    const second = join(folder, `${no}.parquet`);
    const isKept = await link(path, second).then(
      () => true,
      () => false,
    );
    files.push({ part: 'state', rel, path: isKept ? second : path, link: null });
  }
  return files;
}

/** By the rel of their file. */
export async function tablesWithOwnIds(stateDir: string): Promise<ReadonlyMap<string, string[]>> {
  const directory = join(stateDir, TABLES);
  const tables = new Map<string, string[]>();
  for (const name of (await unlessGone(readdir(directory))) ?? []) {
    const rel = name.endsWith('.sqlite') ? fileOfOwnIds(join(directory, name)) : null;
    if (rel !== null) tables.set(rel, [...(tables.get(rel) ?? []), name]);
  }
  return tables;
}

/** Null when a table is not of the opened version of its file. */
export async function snapshotTables(
  stateDir: string,
  folder: string,
  names: readonly string[],
  file: FileHandle,
): Promise<ArchiveFile[] | null> {
  await mkdir(join(folder, TABLES), { recursive: true });
  const files: ArchiveFile[] = [];
  for (const name of names) {
    const source = join(stateDir, TABLES, name);
    const copy = join(folder, TABLES, name);
    await rm(copy, { force: true });
    // Built anew meanwhile.
    if (!existsSync(source)) return null;
    snapshot(source, copy);
    if (!(await bindToContent(copy, file))) return null;
    files.push({ part: 'state', rel: `${TABLES}/${name}`, path: copy, link: null });
  }
  return files;
}

/** Without `withDocroot` only the companions. */
export async function listDocroot(
  root: DocumentRoot,
  withDocroot: boolean,
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  const companions = root.absolute(COMPANION_FOLDER);
  for await (const { rel, path, link } of walk(companions)) {
    if (!isCompanion(`${COMPANION_FOLDER}/${rel}`)) continue;
    files.push({ part: 'companions', rel, path, link });
  }
  if (!withDocroot) return files;
  const isLeftOut = (rel: string): boolean => rel === COMPANION_FOLDER || root.isState(rel);
  for await (const { rel, path, link } of walk(root.absolute(''), isLeftOut)) {
    files.push({ part: 'docroot', rel, path, link });
  }
  return files;
}

/** `VACUUM INTO` reads one consistent version, even while others write. */
function snapshot(source: string, copy: string): void {
  const db = new Database(source, { readwrite: true, create: false });
  try {
    db.run('PRAGMA busy_timeout = 30000');
    db.query('VACUUM INTO ?').run(copy);
  } finally {
    db.close();
  }
}

async function* walk(
  directory: string,
  isLeftOut: (rel: string) => boolean = () => false,
  above = '',
): AsyncGenerator<Pick<ArchiveFile, 'rel' | 'path' | 'link'>> {
  const names = (await unlessGone(readdir(directory))) ?? [];
  for (const name of names.sort()) {
    const rel = above + name;
    const path = join(directory, name);
    if (isLeftOut(rel) || isTemporaryName(name)) continue;
    const stat = await unlessGone(lstat(path));
    if (stat === null) continue;
    if (stat.isDirectory()) yield* walk(path, isLeftOut, `${rel}/`);
    else if (stat.isFile()) yield { rel, path, link: null };
    else if (stat.isSymbolicLink()) {
      const link = await unlessGone(readlink(path));
      if (link !== null) yield { rel, path, link };
    }
  }
}
