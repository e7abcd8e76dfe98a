/**
 * Deleted files and folders, each in a folder of its own under `.svc/.trash`, with its companions.
 *
 * The folder tells the truth: an entry exists when its file is in it. `entry.json` is written before the file comes and
 * says where it was, so a process killed in between leaves the file at its place or a whole entry. Bounded in age and
 * bytes; the newest entry stays whatever its size.
 */
import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { posix } from 'node:path';
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { replaceFile } from '../../base/files/atomic-file.ts';
import { shortId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { stemOf } from '../../base/paths.ts';
import { COMPANION_FOLDER, type DocumentRoot } from '../document-root.ts';
import { type Followed, makeFolder, namesIn, relocate, type Relocation } from './relocation.ts';

const TRASH = `${COMPANION_FOLDER}/.trash`;
const ID = /^[0-9a-f]{16}$/;
const DAY_MS = 86_400_000;

export interface TrashEntry {
  readonly id: string;
  /** Where it was. */
  readonly rel: string;
  readonly isFolder: boolean;
  readonly bytes: number;
  readonly files: number;
  /** RFC 3339. */
  readonly deletedAt: string;
  readonly deletedBy: string;
}

interface TrashOptions {
  readonly root: DocumentRoot;
  readonly now: () => number;
  readonly log: Log;
  readonly followed: Followed;
  readonly limits: () => { readonly trash_days: number; readonly trash_max_bytes: number };
}

type Companions = Relocation['companions'];

export class Trash {
  readonly #options: TrashOptions;

  constructor(options: TrashOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(): TrashEntry[] {
    const { root } = this.#options;
    return namesIn(root.absolute(TRASH))
      .flatMap((id) => this.get(id) ?? [])
      .sort((a, b) => (a.deletedAt === b.deletedAt ? 0 : a.deletedAt < b.deletedAt ? 1 : -1));
  }

  get(id: string): TrashEntry | null {
    if (!ID.test(id)) return null;
    const { root } = this.#options;
    try {
      const told = JSON.parse(readFileSync(root.absolute(`${TRASH}/${id}/entry.json`), 'utf8'));
      const entry = { ...(told as Omit<TrashEntry, 'id'>), id };
      lstatSync(root.absolute(placeOf(entry)));
      return entry;
    } catch {
      // Being made or emptied, or of another version.
      return null;
    }
  }

  /** As `relocate`. `companions` are those of the file or folder. */
  async take(rel: string, by: string, companions: readonly string[]): Promise<TrashEntry> {
    const { root, now, followed } = this.#options;
    const stats = lstatSync(root.absolute(rel), { throwIfNoEntry: false });
    if (stats === undefined) throw new AppError('not-found', 'Not Found');
    const isFolder = stats.isDirectory();
    const sum = isFolder
      ? await contentOf(root.absolute(rel))
      : { bytes: Number(stats.size), files: 1 };
    const id = shortId();
    const deletedAt = timestamp(now());
    const entry = { id, rel, isFolder, ...sum, deletedAt, deletedBy: by };
    makeFolder(root, `${TRASH}/${id}/file`);
    const { id: _, ...told } = entry;
    const info = `${TRASH}/${id}/entry.json`;
    try {
      const pieces = [Buffer.from(JSON.stringify(told))];
      await replaceFile({ path: root.absolute(info), rel: info, base: null, pieces });
      const kept = companions.map((one) => [one, keptName(id, one)] as const);
      const to = placeOf(entry);
      await relocate(root, { from: rel, to, was: null, companions: kept }, followed);
    } catch (error) {
      if (this.get(id) === null) this.#remove(id);
      throw error;
    }
    await this.purge();
    return entry;
  }

  /** Throws as `relocate`. */
  async putBack(entry: TrashEntry, to: string): Promise<void> {
    const { root, followed } = this.#options;
    const companions: Companions = this.#companionsIn(entry).map(([kept, was]) => [
      kept,
      renamedCompanion(was, entry.rel, to),
    ]);
    const was = entry.rel === to ? null : entry.rel;
    await relocate(root, { from: placeOf(entry), to, was, companions }, followed);
    this.#remove(entry.id);
  }

  /** For good. */
  delete(entry: TrashEntry): void {
    this.#remove(entry.id);
  }

  /** What a killed process left without its file, and what is too old or too much. */
  async purge(): Promise<void> {
    const { now, limits, log } = this.#options;
    const { trash_days: days, trash_max_bytes: most } = limits();
    const entries = this.list();
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const isOld = now() - Date.parse(entry.deletedAt) > days * DAY_MS;
      if (index === 0 ? !isOld : !isOld && bytes <= most) continue;
      this.#remove(entry.id);
      log.info('the trash was emptied of an entry', { resource: entry.rel, bytes: entry.bytes });
    }
  }

  /** Only while no other process deletes. */
  removeEmpty(): void {
    const { root } = this.#options;
    for (const id of namesIn(root.absolute(TRASH))) {
      if (!ID.test(id) || namesIn(root.absolute(`${TRASH}/${id}/file`)).length > 0) continue;
      this.#remove(id);
    }
  }

  #companionsIn({ id }: TrashEntry): [kept: string, was: string][] {
    const { root } = this.#options;
    const top = `${TRASH}/${id}/companions`;
    const walk = (rel: string): string[] =>
      namesIn(root.absolute(rel)).flatMap((name) => {
        const path = `${rel}/${name}`;
        return lstatSync(root.absolute(path)).isDirectory() ? walk(path) : [path];
      });
    return walk(top).map((kept) => [kept, `${COMPANION_FOLDER}/${kept.slice(top.length + 1)}`]);
  }

  #remove(id: string): void {
    const { root, log } = this.#options;
    try {
      rmSync(root.absolute(`${TRASH}/${id}`), { recursive: true, force: true });
    } catch (error) {
      log.warning('an entry of the trash could not be removed', { entry: id, error });
    }
  }
}

function placeOf({ id, rel }: Pick<TrashEntry, 'id' | 'rel'>): string {
  return `${TRASH}/${id}/file/${posix.basename(rel)}`;
}

function keptName(id: string, companion: string): string {
  return `${TRASH}/${id}/companions/${companion.slice(COMPANION_FOLDER.length + 1)}`;
}

/** `.svc/a/b.csv.schema.json` of `a/b.csv` becomes `.svc/c.csv.schema.json` of `c.csv`; of a folder what is below it too. */
export function renamedCompanion(companion: string, from: string, to: string): string {
  const name = companion.slice(COMPANION_FOLDER.length + 1);
  if (name.startsWith(from)) return `${COMPANION_FOLDER}/${to}${name.slice(from.length)}`;
  // Named without the extension, which another file beside the new name may have: the whole name is always its own.
  return `${COMPANION_FOLDER}/${to}${name.slice(stemOf(from).length)}`;
}

async function contentOf(path: string): Promise<{ bytes: number; files: number }> {
  let bytes = 0;
  let files = 0;
  for await (const entry of await opendir(path, { recursive: true })) {
    if (!entry.isFile()) continue;
    const { size = 0 } =
      lstatSync(`${entry.parentPath}/${entry.name}`, { throwIfNoEntry: false }) ?? {};
    bytes += size;
    files++;
  }
  return { bytes, files };
}
