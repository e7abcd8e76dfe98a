/**
 * Tables as they were: typed copies made from the present one and the change log, read like any other.
 *
 * A state is what it was right after an entry, and does not change any more; so its copy has the same version whenever it
 * is made. The copies used last are kept, within limits, until the process ends.
 */
import { statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, asNoSpace } from '../../base/errors.ts';
import { sha256Hex, shortId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { ChildPool } from '../../processes/child-pool.ts';
import { COPY_FILES } from '../copy/copy-seal.ts';
import { TABLE_FORMAT } from '../copy/table-meta.ts';
import { Table } from '../copy/table.ts';
import type { BackStep, ChangeLog, TableKey } from './change-log.ts';
import type { PastOrder } from './past-copy.ts';
import type { DifferenceOrder, TableDifference } from './table-difference.ts';

interface PastTablesOptions {
  readonly dir: string;
  readonly changeLog: ChangeLog;
  readonly pool: ChildPool;
  readonly timeoutMs: () => number;
  /** Of one table in the history. */
  readonly maxBytes: () => number;
  readonly log: Log;
}

interface Kept {
  readonly made: Promise<Table>;
  bytes: number;
}

const MAX_KEPT = 8;
const MAX_KEPT_BYTES = 512 * 2 ** 20;
/** While edits go on. */
const MAX_ATTEMPTS = 5;

export class PastTables {
  readonly #options: PastTablesOptions;
  /** By what was undone; in the order of their last use. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: PastTablesOptions) {
    this.#options = options;
  }

  /**
   * As it was right after that entry; the present table when nothing was changed since. Throws `gone` when that is not
   * known, `too-large`, `timed-out`, and `conflict` while it keeps changing.
   */
  async at(current: () => Promise<Table>, key: TableKey, after: number): Promise<Table> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const table = await current();
      const make = (): Promise<Table | null> => this.#at(table, key, after);
      const isLast = attempt === MAX_ATTEMPTS;
      const past = await (isLast && !table.isClosed ? table.exclusive.run(make) : make());
      if (past !== null) return past;
    }
    const text = `Resource '${key.rel}' keeps changing while it is read`;
    throw new AppError('conflict', text, { headers: { 'retry-after': '1' } });
  }

  /** Null when the table changed meanwhile. */
  async #at(table: Table, key: TableKey, after: number): Promise<Table | null> {
    if (table.isClosed) return null;
    const { changeLog } = this.#options;
    const { sequence } = table.state;
    await changeLog.settle(table, key);
    const steps = await changeLog.wayBack(table, key, after);
    if (table.isClosed || table.state.sequence !== sequence) return null;
    const first = steps.at(-1);
    if (first === undefined) return table;
    const name = sha256Hex(
      JSON.stringify([key.rel, key.sheet, first.id, table.head.companion, table.head.context]),
    ).slice(0, 24);
    const known = this.#kept.get(name);
    if (known !== undefined) {
      this.#kept.delete(name);
      this.#kept.set(name, known);
      return known.made;
    }
    const kept: Kept = { made: this.#made(table, sequence, steps, name), bytes: 0 };
    this.#kept.set(name, kept);
    try {
      const made = await kept.made;
      kept.bytes = statSync(made.path).size;
      this.#makeRoom(kept);
      return made;
    } catch (error) {
      this.#kept.delete(name);
      if (error instanceof Overtaken) return null;
      throw asNoSpace(error);
    }
  }

  async #made(
    table: Table,
    sequence: number,
    steps: readonly BackStep[],
    name: string,
  ): Promise<Table> {
    const { dir, pool, timeoutMs } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const out = join(dir, `${name}-${shortId()}.sqlite`);
    const parts = `${out}-parts`;
    try {
      const order: PastOrder = {
        base: table.path,
        generation: table.head.generation,
        sequence,
        parts,
        steps: await this.#write(parts, steps),
        out,
        name,
      };
      const response = await pool.request('past', order, {
        timeoutMs: timeoutMs(),
        isOfWork: true,
      });
      const { isMade } = (await response.json()) as { readonly isMade: boolean };
      const past = isMade ? Table.open(out, TABLE_FORMAT) : null;
      if (past === null) throw new Overtaken();
      return past;
    } catch (error) {
      await removeCopy(out);
      if (table.isClosed) throw new Overtaken();
      throw error;
    } finally {
      await rm(parts, { force: true });
    }
  }

  /** As they are stored: reading them is the child's work. */
  async #write(path: string, steps: readonly BackStep[]): Promise<PastOrder['steps']> {
    const file: FileHandle = await open(path, 'wx', 0o600);
    try {
      const written: PastOrder['steps'][number][] = [];
      for (const { id, map } of steps) {
        if (map !== null) await file.writeFile(map.bytes!);
        const pieces: number[] = [];
        for await (const piece of this.#options.changeLog.piecesOf(id)) {
          await file.writeFile(piece);
          pieces.push(piece.length);
        }
        written.push({ id, mapBytes: map === null ? null : map.bytes!.length, pieces });
      }
      return written;
    } finally {
      await file.close();
    }
  }

  #makeRoom(newest: Kept): void {
    let bytes = 0;
    for (const one of this.#kept.values()) bytes += one.bytes;
    for (const [name, one] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && bytes <= MAX_KEPT_BYTES) return;
      if (one === newest || one.bytes === 0) continue;
      this.#kept.delete(name);
      bytes -= one.bytes;
      void one.made.then((table) => this.#drop(table));
    }
  }

  async #drop(table: Table): Promise<void> {
    await table.exclusive.run(() => table.close());
    await removeCopy(table.path);
  }

  /**
   * Notes what made `made` of `old`: another program, or an upload. Never throws: the file is read all the same, and its
   * history then begins here.
   */
  async follow(key: TableKey, old: Table, made: Table): Promise<void> {
    const { changeLog, log, maxBytes, dir, pool, timeoutMs } = this.#options;
    if (!changeLog.isOn || old.isClosed || old.numbering === made.numbering) return;
    const out = join(dir, `${shortId()}.changes`);
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const order: DifferenceOrder = {
        before: old.path,
        after: made.path,
        out,
        maxBytes: maxBytes(),
      };
      const found = await pool
        .request('compare', order, { timeoutMs: timeoutMs(), isOfWork: true })
        .then(async (response) => (await response.json()) as TableDifference)
        .catch((error: unknown) => {
          log.warning('what another program changed could not be told', {
            resource: key.rel,
            error,
          });
          return { rowCount: made.state.rowCount, kept: null };
        });
      const parts = found.kept === null ? [] : await partsOf(out, found.kept);
      const [map = null, ...pieces] = parts;
      await changeLog.noteOther(made, key, {
        before: old.numbering,
        writtenAt: Number(BigInt(made.state.stamp.mtimeNs) / 1_000_000n),
        rowCount: found.rowCount,
        map,
        pieces: pieces.map((rows, at) => ({ ...found.kept!.pieces[at]!, rows })),
      });
    } catch (error) {
      log.warning('what another program changed is not kept', { resource: key.rel, error });
    } finally {
      await rm(out, { force: true }).catch(() => undefined);
    }
  }

  /** Also what an earlier process left. */
  async close(): Promise<void> {
    for (const { made } of this.#kept.values()) {
      await made.then((table) => this.#drop(table)).catch(() => undefined);
    }
    this.#kept.clear();
    await rm(this.#options.dir, { recursive: true, force: true });
  }
}

/** The present copy is another one now. */
class Overtaken extends Error {}

async function partsOf(
  path: string,
  { mapBytes, pieces }: NonNullable<TableDifference['kept']>,
): Promise<Uint8Array[]> {
  const bytes = await Bun.file(path).bytes();
  let at = 0;
  return [mapBytes, ...pieces.map((piece) => piece.bytes)].map((length) =>
    bytes.slice(at, (at += length)),
  );
}

async function removeCopy(path: string): Promise<void> {
  for (const end of COPY_FILES) await rm(path + end, { force: true });
}
