/**
 * The folder of typed copies, with their state at last use (`copy-seal.ts`). A copy that others changed is not trusted.
 */
import { constants, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FileStamp } from '../../base/files/file-stamp.ts';
import { sha256Hex, shortId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { COLUMNS_SUFFIX, COPY_FILES, isSealed, sealCopy, traceOf } from './copy-seal.ts';
import { Table } from './table.ts';
import { TABLE_FORMAT } from './table-meta.ts';

interface TableName {
  readonly rel: string;
  readonly sheet: string | null;
}

/** Remains of copies. The companions of a document root's folder `tables` may be in the same folder. */
const OTHERS = /^[0-9a-f]{32}(?:\.[\w-]+)?\.sqlite(?:-(?:journal|progress))?$/;
const COLUMNS = /^[0-9a-f]{32}\.[\w-]+\.sqlite-columns$/;

export class CopyFolder {
  readonly #dir: string;
  readonly #log: Log;
  /** Copies nobody has open, by table id. */
  readonly #found = new Map<string, string[]>();
  /** The trace of each copy set aside, by path. */
  readonly #left = new Map<string, string>();

  /** Finds copies of earlier runs and deletes remains of unfinished ones. */
  constructor(dir: string, log: Log) {
    this.#dir = dir;
    this.#log = log;
    const names = readdirSync(dir);
    for (const name of names) {
      const match = /^([0-9a-f]{32})\.[A-Za-z0-9_-]+\.sqlite$/.exec(name);
      if (match) this.#found.set(match[1]!, [...(this.#found.get(match[1]!) ?? []), name]);
      else if (OTHERS.test(name)) this.remove(join(dir, name));
      else if (COLUMNS.test(name) && !names.includes(name.slice(0, -COLUMNS_SUFFIX.length)))
        rmSync(join(dir, name), { recursive: true, force: true });
    }
  }

  /** One that is set aside or was found. */
  has(name: string): boolean {
    return this.#found.get(name.slice(0, name.indexOf('.')))?.includes(name) === true;
  }

  newPath(target: TableName): string {
    return join(this.#dir, `${tableId(target)}.${shortId()}.sqlite`);
  }

  setAside(id: string, table: Table): void {
    this.#found.set(id, [basename(table.path)]);
    table.close();
    this.#left.set(table.path, traceOf(table.path));
    void this.seal(table);
  }

  /** For the next start; a copy that cannot be sealed is rebuilt then. */
  async seal({ path, isWritten, head }: Table): Promise<void> {
    if (!isWritten) return;
    try {
      await sealCopy(path);
    } catch (error) {
      const fields = { resource: head.rel, error };
      this.#log.warning('a typed copy could not be sealed', fields);
    }
  }

  suspect(table: Table): void {
    table.outdated = 'suspect';
    this.#log.warning('a typed copy is not as it was left and is built again', {
      resource: table.head.rel,
    });
  }

  /** A copy set aside, also by an earlier run; `suspect` unless unchanged. Others are deleted. */
  async reopen(target: TableName): Promise<Table | null> {
    const id = tableId(target);
    const names = this.#found.get(id) ?? [];
    this.#found.delete(id);
    let newest: Table | null = null;
    // The newest first: one that a newer one has replaced may still be there for the search.
    const writtenAt = (name: string): number =>
      statSync(join(this.#dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (names.length > 1) names.sort((a, b) => writtenAt(b) - writtenAt(a));
    for (const name of names) {
      const path = join(this.#dir, name);
      const isAsLeft = newest === null && (await this.#isAsLeft(path));
      const table: Table | null = newest ? null : Table.open(path, TABLE_FORMAT);
      const isOurs = table?.head.rel === target.rel && table.head.sheet === target.sheet;
      if (table && isOurs) {
        newest = table;
        if (!isAsLeft && table.outdated === null) this.suspect(table);
      } else {
        table?.close();
        this.remove(path);
      }
    }
    return newest;
  }

  /** False without a copy that can be trusted. The old one stays. */
  async carry(from: TableName, to: TableName): Promise<boolean> {
    const table = await this.reopen(from);
    if (table === null) return false;
    const { path, head, outdated } = table;
    table.close();
    this.#found.set(tableId(from), [basename(path)]);
    this.#left.set(path, traceOf(path));
    if (outdated !== null) return false;
    const carried = this.newPath(to);
    try {
      // A second file, because the search may be reading the first.
      for (const end of ['', '-wal']) {
        if (existsSync(path + end)) {
          await copyFile(path + end, carried + end, constants.COPYFILE_FICLONE);
        }
      }
      const { rel, sheet } = to;
      Table.rewrite(carried, { head: { ...head, rel, sheet } });
      this.#found.set(tableId(to), [basename(carried)]);
      this.#left.set(carried, traceOf(carried));
      return true;
    } catch (error) {
      this.remove(carried);
      throw error;
    }
  }

  /** The file of a carried copy has its name: a rename moves only the ctime. */
  restamp(to: TableName, stamp: FileStamp, takenAt: number): void {
    const [name] = this.#found.get(tableId(to)) ?? [];
    if (name === undefined) return;
    const path = join(this.#dir, name);
    Table.rewrite(path, { stamp, takenAt });
    this.#left.set(path, traceOf(path));
    void sealCopy(path).catch(() => undefined);
  }

  async #isAsLeft(path: string): Promise<boolean> {
    const trace = this.#left.get(path);
    this.#left.delete(path);
    return trace === traceOf(path) || (await isSealed(path));
  }

  remove(path: string): void {
    this.#left.delete(path);
    for (const end of COPY_FILES) rmSync(path + end, { force: true });
    rmSync(path + COLUMNS_SUFFIX, { recursive: true, force: true });
  }

  drop(id: string): void {
    for (const name of this.#found.get(id) ?? []) this.remove(join(this.#dir, name));
    this.#found.delete(id);
  }

  async prune(ids: ReadonlySet<string>, isAway: (rel: string) => boolean): Promise<void> {
    const slice = new TimeSlice();
    for (const [id, names] of [...this.#found]) {
      if (ids.has(id)) continue;
      if (slice.isOver) await slice.rest();
      // Taken back meanwhile.
      if (this.#found.get(id) !== names) continue;
      const rel = Table.relOf(join(this.#dir, names[0]!));
      if (rel === null || !isAway(rel)) this.drop(id);
    }
  }
}

const knownIds = new WeakMap<TableName, string>();

/** Remembered with the target; reveals nothing. */
export function tableId(target: TableName): string {
  let id = knownIds.get(target);
  if (id === undefined) {
    const { rel, sheet } = target;
    id = sha256Hex(sheet === null ? rel : `${rel}\n${sheet}`).slice(0, 32);
    knownIds.set(target, id);
  }
  return id;
}
