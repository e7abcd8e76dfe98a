/**
 * Which of many small tables can be read, without typed copies. Says yes only when `load` would certainly succeed;
 * anything doubtful is left to `load`, which gives the reason.
 */
import { AppError } from '../../base/errors.ts';
import { isCompressed } from '../../base/files/compressed-file.ts';
import { hashFile, sameStamp, statFile } from '../../base/files/file-stamp.ts';
import type { ChildJobs } from '../../processes/child-server.ts';
import { MAX_COLUMNS } from '../../tables/limits.ts';
import { SAMPLE_BYTES } from '../../tables/copy/load.ts';
import type { Cell, ColumnSink, Segment } from '../../tables/types.ts';
import { type CompanionPaths, readOptions, readSchema } from '../companions.ts';
import { DocumentRoot } from '../document-root.ts';
import type { Kind, KindContext } from '../kind.ts';
import { openForRead } from '../opener.ts';
import { contextOf, type FileOrder } from './file-jobs.ts';

export interface ReadableTable {
  readonly rel: string;
  readonly sheet: string | null;
  readonly path: string;
  readonly type: string;
  readonly companionRels: CompanionPaths;
}

export interface ReadabilityOrder extends Pick<FileOrder, 'docroot' | 'stateDir' | 'limits'> {
  readonly tables: readonly ReadableTable[];
}

/** Larger tables need the memory and time of a copy, which may exceed the limits. */
const MAX_CELLS = 400_000;
/** Work on one order, so that many slow tables do not reach the time limit together. */
const MAX_WORK_MS = 1_000;

/**
 * True for a table that can be read and whose companions have no fault. Ends after a second, with at least one entry.
 */
export function readabilityJobs(kinds: readonly Kind[]): ChildJobs {
  return {
    sound: async (body) => Response.json(await checkTables(body as ReadabilityOrder, kinds)),
  };
}

async function checkTables(order: ReadabilityOrder, kinds: readonly Kind[]): Promise<boolean[]> {
  const root = new DocumentRoot(order.docroot, order.stateDir);
  const endsAt = performance.now() + MAX_WORK_MS;
  const found: boolean[] = [];
  for (const table of order.tables) {
    const kind = kinds.find(({ type }) => type === table.type);
    found.push(
      kind !== undefined &&
        (await isSound(table, { root, kind, context: contextOf({ ...order, rel: table.rel }) })),
    );
    if (performance.now() > endsAt) break;
  }
  return found;
}

interface CheckContext {
  readonly root: DocumentRoot;
  readonly kind: Kind;
  readonly context: KindContext;
}

async function isSound(
  table: ReadableTable,
  { root, kind, context }: CheckContext,
): Promise<boolean> {
  try {
    const schema = await readSchema(root, table.companionRels.schema);
    const companion = await readOptions(root, table.companionRels.options, kind, table);
    if (schema.problem !== null || companion.problem !== null) return false;
    const source = await openForRead(root, table.rel);
    try {
      if (source.size > SAMPLE_BYTES || isCompressed(table.rel)) return false;
      const sink = new SmallTable();
      await kind.dataset!.read(source, companion.options, sink, context);
      // Readers skip bytes they do not need; a disk may still have lost them.
      await hashFile(source);
      return sink.isSmall && sameStamp(statFile(table.path), source.stamp);
    } finally {
      await source.close();
    }
  } catch {
    // Making the copy meets the error again and reports it.
    return false;
  }
}

/** Counts the rows of a table and keeps none; throws when it is not small after all. */
class SmallTable implements ColumnSink {
  /** Needed because a reader may swallow what was thrown. */
  isSmall = true;
  #cells = 0;
  #width = 0;

  header(names: readonly string[]): void {
    this.#width = names.length;
    this.#require(names.length <= MAX_COLUMNS);
  }

  segment(_segment: Segment, rows: readonly (readonly Cell[])[]): void {
    for (const row of rows) {
      this.#cells += Math.max(1, row.length);
      this.#require(row.length <= MAX_COLUMNS && this.#cells <= MAX_CELLS);
    }
  }

  segmentByColumn(segment: Segment): void {
    this.#cells += segment.rows * Math.max(1, this.#width);
    this.#require(this.#cells <= MAX_CELLS);
  }

  layout(): void {}

  #require(isMet: boolean): void {
    if (isMet) return;
    this.isSmall = false;
    throw new AppError('too-large', 'the table is not small');
  }
}
