/**
 * What the parse workers are asked to do with files of the document root; `file-jobs.ts` and `load-table.ts` are the other
 * end. Bytes of users are read there only, under the time limit of the settings unless an order brings its own.
 */
import { AppError } from '../base/errors.ts';
import type { FileSource } from '../base/file-source.ts';
import type { ChildPool } from '../children/child-pool.ts';
import type { Config } from '../config/schema.ts';
import type { BuildOrder } from '../dataset/copy-builds.ts';
import type { EditPlan, TableChanges, TableLayout } from '../dataset/types.ts';
import type { CompanionPaths } from './companions.ts';
import type { DocumentJobName } from './documents.ts';
import { readEditPlan, wireChanges } from './edit-wire.ts';
import type { DocumentFileOrder, EditOrder, FileOrder, SectionsOrder } from './file-jobs.ts';
import type { LoadOrder } from './load-table.ts';
import type { Resource } from './registry.ts';
import type { FoundFile } from './scan.ts';
import type { SoundOrder, SoundTable } from './sound-tables.ts';

/** An edit of a table, as the kind is to plan it. */
export interface EditRequest {
  readonly source: FileSource;
  readonly layout: TableLayout;
  readonly changes: TableChanges;
}

/** The orders of one server to its parse workers. All throw as the job, and `timed-out`. */
export class ParseWorkers {
  readonly #pool: ChildPool;
  readonly #config: () => Config;

  constructor(pool: ChildPool, config: () => Config) {
    this.#pool = pool;
    this.#config = config;
  }

  /** Names of the tables in a file: none when its kind does not publish it, null when it is one resource. */
  async sheetsOf({ rel, kind }: FoundFile): Promise<readonly string[] | null> {
    const job = kind.detection ? 'detect' : 'sheets';
    const response = await this.#ask(job, this.#fileOrder(rel, kind.type));
    return (await response.json()) as string[] | null;
  }

  /**
   * Leaves a finished copy at `order.out`. Throws, with the bare reason, `unreadable-file`, `too-large` and `timed-out` when
   * the file is at fault.
   */
  async build(
    { rel, type }: Resource,
    companionRels: CompanionPaths,
    order: BuildOrder,
  ): Promise<void> {
    const load: LoadOrder = { ...order, ...this.#fileOrder(rel, type), companionRels };
    const seconds = this.#config().limits.parse_timeout_seconds;
    try {
      const response = await this.#pool.request('load', load, {
        timeoutMs: seconds * 1000,
        // What takes too long counts as broken until it changes; how much there was to do before is no fault of the file.
        isOfWork: true,
        memoryError: () =>
          new AppError('too-large', 'reading it needs more memory than limits.child_memory_bytes'),
      });
      await response.body?.cancel();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'timed-out') throw error;
      throw new AppError('timed-out', `reading it takes longer than ${seconds} seconds`, {
        cause: error,
      });
    }
  }

  /** Of the first tables, one at least, whether each can certainly be read (`sound-tables.ts`). */
  async areSound(tables: readonly SoundTable[]): Promise<readonly boolean[]> {
    const { docroot, state_dir: stateDir, limits } = this.#config();
    const order: SoundOrder = {
      docroot,
      stateDir,
      limits: { maxBytes: limits.max_workbook_bytes },
      tables,
    };
    const timeoutMs = limits.parse_timeout_seconds * 1000;
    const response = await this.#pool.request('sound', order, { timeoutMs });
    return (await response.json()) as boolean[];
  }

  /** The kind's edit: here when it only looks at the touched rows, else in a worker. */
  async planEdit(
    { rel, kind }: Resource,
    { source, layout, changes }: EditRequest,
  ): Promise<EditPlan> {
    const file = this.#fileOrder(rel, kind.type);
    const { edit, editsWholeFile } = kind.dataset!;
    if (!editsWholeFile) return edit!(source, layout, changes, file.limits);
    const order: EditOrder = { ...file, layout, changes: wireChanges(changes) };
    return readEditPlan(await this.#ask('edit', order));
  }

  /** Writes what the search finds in a document to the new file `out`. */
  async extractSections({
    rel,
    type,
    out,
  }: Pick<SectionsOrder, 'rel' | 'type' | 'out'>): Promise<void> {
    const { max_document_bytes: maxBytes } = this.#config().search;
    const order: SectionsOrder = { ...this.#fileOrder(rel, type), maxBytes, out };
    const response = await this.#ask('sections', order);
    await response.body?.cancel();
  }

  /** What is made of a document or media file, as JSON text. */
  async readDocument(
    job: DocumentJobName,
    { rel, type }: Resource,
    { timeoutMs, maxBytes }: { readonly timeoutMs: number; readonly maxBytes: number },
  ): Promise<string> {
    const order: DocumentFileOrder = { ...this.#fileOrder(rel, type), maxBytes };
    return (await this.#ask(job, order, timeoutMs)).text();
  }

  #fileOrder(rel: string, type: string): FileOrder {
    const { docroot, state_dir: stateDir, limits } = this.#config();
    return { docroot, stateDir, rel, type, limits: { maxBytes: limits.max_workbook_bytes } };
  }

  #ask(
    job: string,
    order: FileOrder,
    timeoutMs = this.#config().limits.parse_timeout_seconds * 1000,
  ): Promise<Response> {
    return this.#pool.request(job, order, { timeoutMs });
  }
}
