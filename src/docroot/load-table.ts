/**
 * The `load` job of the parse worker: one file of the document root becomes a finished typed copy.
 *
 * Runs in a child process that may be killed at any moment (reliability: parsers are hostile ground). The copy's own
 * meta data is written last, so a copy cut off half-way is never taken for a whole one.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { AppError } from '../base/errors.ts';
import { hashFile, sameStamp, statFile } from '../base/file-stamp.ts';
import type { ChildJobs } from '../children/child-server.ts';
import type { BuildOrder } from '../dataset/copy-builds.ts';
import { lineageFor } from '../dataset/copy-lineage.ts';
import { sealCopy } from '../dataset/copy-seal.ts';
import { loadTable } from '../dataset/load.ts';
import { ProgressTeller } from '../dataset/reading-progress.ts';
import { initialiseMeta, TABLE_FORMAT } from '../dataset/table-meta.ts';
import { companionFingerprint } from '../dataset/table-target.ts';
import { readOptions, readSchema } from './companion-files.ts';
import type { CompanionPaths } from './companions.ts';
import { DocumentRoot } from './document-root.ts';
import type { Kind, KindLimits } from './kind.ts';
import { openForRead } from './opener.ts';

/** A build order with what the worker needs to open the file itself. */
export interface LoadOrder extends BuildOrder {
  readonly docroot: string;
  readonly stateDir: string;
  /** Resource type, which decides the reader. */
  readonly type: string;
  readonly limits: KindLimits;
  /** Rels of the companions, in the order of `target.companions`. */
  readonly companionRels: CompanionPaths;
}

/** A file that changes while it is read is read again at most so often. */
const MAX_READS = 3;

/**
 * The job by name: it reads the file and leaves the copy at `order.out`. Throws `unreadable-file` with the bare reason when
 * the bytes or the limits of the kind are at fault, and `not-found` when the file is gone.
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
    if (await readOnce(order, kind)) return;
    for (const suffix of ['', '-wal', '-shm']) rmSync(order.out + suffix, { force: true });
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

/** False when the file changed meanwhile. */
async function readOnce(order: LoadOrder, kind: Kind): Promise<boolean> {
  const { target, out } = order;
  const root = new DocumentRoot(order.docroot, order.stateDir);
  const companion = companionFingerprint(target);
  const schema = await readSchema(root, order.companionRels.schema);
  const options = await readOptions(root, order.companionRels.options, kind, target.sheet);
  const source = await openForRead(root, target.rel);
  const progress = new ProgressTeller(out);
  try {
    const found = { stamp: source.stamp, companion };
    const { generation, sequence, ids } = await lineageFor(order, found, () => hashFile(source));
    const stampTakenAt = Date.now();
    const loaded = await loadTable({
      path: out,
      read: (sink) =>
        kind.dataset!.read(progress.begin(source), options.options, sink, order.limits),
      companion: schema,
      ids: ids && (() => keptIds(ids)),
      blank: blankOf(kind),
    }).catch((error: unknown) => {
      // Half of one version and half of another may look like anything: only a file at rest is at fault.
      if (sameStamp(statFile(target.path), source.stamp)) throw error;
      return null;
    });
    if (loaded === null) return false;
    const hash = await hashFile(source);
    if (!sameStamp(statFile(target.path), source.stamp)) return false;
    finishCopy(out, (db) =>
      initialiseMeta(
        db,
        {
          format: TABLE_FORMAT,
          rel: target.rel,
          sheet: target.sheet,
          generation,
          blank: blankOf(kind),
          companion,
          companionProblem: schema.problem ?? options.problem,
          companionSchema: schema.verbatim,
          columns: loaded.columns,
          bodyOffset: loaded.layout.bodyOffset,
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

/** How blank cells of a kind read in JSON (DS-64): only Parquet knows nulls. */
function blankOf(kind: Kind): 'empty' | 'null' {
  return kind.type === 'parquet' ? 'null' : 'empty';
}

/**
 * Row ids of an earlier copy without the deleted ones, then the created ones. From a copy that is damaged or gone only
 * those before the damage, which then do not fit the rows.
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
