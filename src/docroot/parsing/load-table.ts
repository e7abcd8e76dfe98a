/**
 * Makes the typed copy of one file. The process may be killed at any moment: the copy's own metadata is written last,
 * so an incomplete copy is never taken for a whole one.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { fstatSync, rmSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import { contentOf } from '../../base/files/compressed-file.ts';
import type { FileSource } from '../../base/files/file-source.ts';
import {
  CLOCK_TICK_MS,
  hashFile,
  isRacy,
  sameContent,
  sameStamp,
  stampOf,
  statFile,
} from '../../base/files/file-stamp.ts';
import type { ChildJobs } from '../../processes/child-server.ts';
import type { BuildOrder } from '../../tables/copy/copy-lineage.ts';
import { lineageFor } from '../../tables/copy/copy-lineage.ts';
import { sealCopy } from '../../tables/copy/copy-seal.ts';
import { type LoadOptions, loadTable } from '../../tables/copy/load.ts';
import { ProgressWriter } from '../../tables/copy/read-progress.ts';
import { MAX_COLUMNS } from '../../tables/limits.ts';
import { type Learned, ReadAgain, type ReadOptions } from '../../tables/types.ts';
import { initialiseMeta, TABLE_FORMAT } from '../../tables/copy/table-meta.ts';
import { companionFingerprint } from '../../tables/copy/table-target.ts';
import { type CompanionPaths, readOptions, readSchema } from '../companions.ts';
import { DocumentRoot } from '../document-root.ts';
import type { Kind } from '../kind.ts';
import { type OpenedFile, openForRead } from '../opener.ts';
import { contextOf, type FileOrder } from './file-jobs.ts';

export interface LoadOrder extends BuildOrder, FileOrder {
  readonly companionRels: CompanionPaths;
}

const MAX_READS = 3;
/** Openings while its bytes are copied to memory. */
const MAX_OPENINGS = 30;
/** Up to this size a file is read at once, so that no change can come in between. */
const MAX_HELD_BYTES = 16 << 20;

/**
 * Leaves the copy at `order.out`. Throws `unreadable-file` with the bare reason when bytes or limits of the kind are
 * at fault, and `not-found`.
 */
export function loadJobs(kinds: readonly Kind[]): ChildJobs {
  return {
    load: async (body) => {
      await loadTableFile(body as LoadOrder, kinds);
      return new Response(null, { status: 204 });
    },
  };
}

async function loadTableFile(order: LoadOrder, kinds: readonly Kind[]): Promise<void> {
  const kind = kinds.find(({ type }) => type === order.type);
  if (!kind?.dataset) throw new AppError('internal', `No reader for ${order.type}`);
  for (let attempt = 1; ; attempt++) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(order.out + suffix, { force: true });
    if (await readOnce(order, kind, attempt === MAX_READS)) return;
    if (attempt === MAX_READS) {
      // Not the file's fault: it is probably still being copied here, and is read again when it changes.
      throw new AppError(
        'conflict',
        `Resource '${order.target.rel}' keeps changing while it is read`,
        {
          headers: { 'retry-after': '1' },
        },
      );
    }
  }
}

/** What was read may mix two versions; or, except on the last try, the file was still being written. */
async function readOnce(order: LoadOrder, kind: Kind, isLast: boolean): Promise<boolean> {
  const { target, out } = order;
  const root = new DocumentRoot(order.docroot, order.stateDir);
  const companion = await settledCompanions(target);
  const schema = await readSchema(root, order.companionRels.schema);
  const options = await readOptions(root, order.companionRels.options, kind, target);
  const stampTakenAt = Date.now();
  const { source, held } = await openStill(root, target.rel);
  const progress = new ProgressWriter(out);
  try {
    const bytes = held ?? source;
    const isRecent = isRacy(source.stamp, stampTakenAt);
    const before = held !== null || isRecent ? await hashFile(bytes) : null;
    const found = { stamp: source.stamp, companion };
    const { generation, sequence, ids } = await lineageFor(
      order,
      found,
      async () => before ?? (await hashFile(bytes)),
    );
    let content: FileSource | null = null;
    const load = (learned?: Learned, again = 0): ReturnType<typeof loadTable> =>
      loadTable({
        path: out,
        fileBytes: source.stamp.size,
        read: async (sink) =>
          kind.dataset!.read(
            progress.begin((content ??= await contentOf(bytes, target.rel, order.limits.maxBytes))),
            { ...options.options, ...(learned && { learned }) },
            sink,
            contextOf({ ...order, rel: target.rel }),
          ),
        companion: schema,
        ids: ids && (() => keptIds(ids)),
        blank: blankOf(kind),
        spellings: spellingsOf(options.options),
      }).catch((error: unknown) => {
        if (!(error instanceof ReadAgain) || again > MAX_COLUMNS) throw error;
        return load(error.learned, again + 1);
      });
    const loaded = await load().catch((error: unknown) => {
      // A mix of two versions may produce any error: only an unchanged file is at fault.
      if (sameStamp(statFile(target.path), source.stamp)) throw error;
      return null;
    });
    if (loaded === null) return false;
    const hash = held !== null && before !== null ? before : await hashFile(source);
    if (before !== null && hash !== before) return false;
    if (!isStill(source) && !(held !== null && isLast)) return false;
    finishCopy(out, (db) =>
      initialiseMeta(
        db,
        {
          format: TABLE_FORMAT,
          rel: target.rel,
          sheet: target.sheet,
          generation,
          numbering: loaded.keptIds && ids ? ids.numbering : generation,
          blank: blankOf(kind),
          companion,
          companionProblem: schema.problem ?? options.problem,
          companionSchema: schema.verbatim,
          columns: loaded.columns,
          bodyOffset: loaded.layout.bodyOffset,
          context: loaded.context,
        },
        {
          stamp: source.stamp,
          stampTakenAt,
          hash,
          sequence,
          rowCount: loaded.rowCount,
          lastRowId: loaded.keptIds
            ? Math.max(loaded.lastRowId, ids?.lastRowId ?? 0)
            : loaded.lastRowId,
          counts: loaded.columns.map((column) => column.counts),
          forms: loaded.columns.map((column) => column.forms),
          dialect: loaded.layout.dialect,
        },
      ),
    );
    await sealCopy(out);
    return true;
  } finally {
    progress.end();
    await source.close();
  }
}

function spellingsOf({
  decimal,
  thousands,
  dateOrder,
  dateFormat,
  hasUnits,
}: ReadOptions): NonNullable<LoadOptions['spellings']> {
  return {
    ...(decimal !== undefined && { decimal }),
    ...(thousands !== undefined && { thousands }),
    ...(dateOrder && { dateOrder }),
    ...(dateFormat !== undefined && { dateFormat }),
    ...(hasUnits && { hasUnits }),
  };
}

/** With all its bytes in memory, unless it is large or never stops changing. */
async function openStill(
  root: DocumentRoot,
  rel: string,
): Promise<{ source: OpenedFile; held: FileSource | null }> {
  for (let opening = 1; ; opening++) {
    const source = await openForRead(root, rel);
    const held = await heldOf(source).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    if (held === null || isStill(source)) return { source, held };
    if (opening === MAX_OPENINGS) return { source, held: null };
    await source.close();
  }
}

async function heldOf(source: OpenedFile): Promise<FileSource | null> {
  if (source.size > MAX_HELD_BYTES) return null;
  const bytes = await source.read(0, source.size);
  return {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** False also when another file took its name, which changes the ctime. */
function isStill({ fd, stamp }: OpenedFile): boolean {
  const stats = fstatSync(fd, { bigint: true });
  const now = stampOf(stats);
  return sameStamp(now, stamp) || (stats.nlink === 0n && sameContent(now, stamp));
}

/** A `companionFingerprint` that every later change will alter. */
async function settledCompanions(target: LoadOrder['target']): Promise<string> {
  const { schema, options, besides = [] } = target.companions;
  const paths = [...schema, ...options, ...besides];
  const isYoung = (path: string): boolean => {
    const stamp = statFile(path);
    return stamp !== null && isRacy(stamp, Date.now(), CLOCK_TICK_MS);
  };
  for (let wait = 0; wait < MAX_READS && paths.some(isYoung); wait++) {
    await Bun.sleep(CLOCK_TICK_MS);
  }
  return companionFingerprint(target);
}

function blankOf(kind: Kind): 'empty' | 'null' {
  return kind.dataset?.hasNull === true ? 'null' : 'empty';
}

/**
 * Of an earlier copy without the deleted ones, then the created ones. Of a damaged or missing copy only those before
 * the damage.
 */
function* keptIds(ids: NonNullable<BuildOrder['ids']>): Generator<number> {
  const deleted = new Set(ids.deleted);
  let db: Database | null = null;
  try {
    db = new Database(ids.from, { readonly: true });
    const page = db.query(
      'SELECT _row_id FROM rows WHERE _row_id > ? ORDER BY _row_id LIMIT 10000',
    );
    for (let last = 0; ;) {
      const rows = page.values(last) as [number][];
      for (const [id] of rows) {
        // Only damage makes such an id.
        if (id > ids.lastRowId) return;
        if (!deleted.has(id)) yield id;
      }
      if (rows.length === 0) break;
      last = rows.at(-1)![0];
    }
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    return;
  } finally {
    db?.close();
  }
  yield* ids.created;
}

function finishCopy(path: string, write: (db: Database) => void): void {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.transaction(() => write(db))();
  } finally {
    db.close();
  }
}
