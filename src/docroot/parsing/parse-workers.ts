/** Users' bytes are parsed only in these workers; `file-jobs.ts` and `load-table.ts` are the other end. */
import { AppError } from '../../base/errors.ts';
import type { FileSource } from '../../base/files/file-source.ts';
import { TooMuchWork } from '../../processes/child-job.ts';
import type { ChildPool, ChildRequestOptions } from '../../processes/child-pool.ts';
import type { Turn } from '../../processes/turn.ts';
import type { Config } from '../../config/settings.ts';
import type { BuildOrder } from '../../tables/copy/copy-lineage.ts';
import type { TypedPreview } from '../../tables/infer/file-preview.ts';
import type { EditPlan, ReadOptions, TableChanges, TableLayout } from '../../tables/types.ts';
import type { SheetName } from '../kind.ts';
import type { CompanionPaths } from '../companions.ts';
import type { DashboardPatch } from '../dashboard.ts';
import type { DocumentJobName } from '../documents.ts';
import { readEditPlan, wireChanges } from './edit-wire.ts';
import type {
  DifferenceOrder,
  DocumentFileOrder,
  EditOrder,
  FileOrder,
  PatchedDashboard,
  PatchOrder,
  PreviewOrder,
  TextOrder,
  TextPreview,
  SectionsOrder,
} from './file-jobs.ts';
import type { LoadOrder } from './load-table.ts';
import type { Resource } from '../registry/registry.ts';
import type { FoundFile } from '../registry/scan.ts';
import type { ReadabilityOrder, ReadableTable } from './readable-tables.ts';

interface EditRequest {
  readonly source: FileSource;
  readonly layout: TableLayout;
  readonly changes: TableChanges;
}

/** Processor time; a document of 2 MiB takes some seconds, so one that takes longer is hostile. */
export const PAGE_MS = 5_000;
/** Of up to 10 MiB. */
export const SECTIONS_MS = 20_000;
const SHEETS_MS = 10_000;

/** All throw as the job, and `timed-out`. */
export class ParseWorkers {
  readonly #pool: ChildPool;
  readonly #config: () => Config;

  constructor(pool: ChildPool, config: () => Config) {
    this.#pool = pool;
    this.#config = config;
  }

  /** Empty when its kind does not publish it, null when it is one resource. */
  async sheetsOf({ rel, kind }: FoundFile): Promise<readonly SheetName[] | null> {
    const job = kind.detection ? 'detect' : 'sheets';
    try {
      const limits = { processorMs: SHEETS_MS };
      const response = await this.#ask(job, this.#fileOrder(rel, kind.type), limits);
      return (await response.json()) as SheetName[] | null;
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      const text = `Cannot read '${rel}': telling what is in it takes longer than ${SHEETS_MS / 1000} seconds`;
      throw new AppError('unreadable-file', text, { cause: error });
    }
  }

  /** Throws, with the bare reason, `unreadable-file`, `too-large` and `timed-out` when the file is at fault. */
  async build(
    { rel, type }: Resource,
    companionRels: CompanionPaths,
    order: BuildOrder,
    turn: Turn,
  ): Promise<void> {
    const load: LoadOrder = { ...order, ...this.#fileOrder(rel, type), companionRels };
    const seconds = this.#config().limits.parse_timeout_seconds;
    try {
      const response = await this.#pool.request('load', load, {
        timeoutMs: seconds * 1000,
        // A file that takes too long counts as broken, so the limit excludes the wait in the queue.
        isOfWork: true,
        turn,
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

  /** For the first ones, at least one (`readable-tables.ts`). */
  async areReadable(tables: readonly ReadableTable[]): Promise<readonly boolean[]> {
    const { docroot, state_dir: stateDir, limits } = this.#config();
    const order: ReadabilityOrder = {
      docroot,
      stateDir,
      limits: { maxBytes: limits.max_workbook_bytes },
      tables,
    };
    const timeoutMs = limits.parse_timeout_seconds * 1000;
    const response = await this.#pool.request('sound', order, { timeoutMs });
    return (await response.json()) as boolean[];
  }

  /** Runs here when the kind only reads the touched rows, else in a worker. */
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

  async preview({ rel, kind }: Resource, options: ReadOptions): Promise<TypedPreview> {
    const order: PreviewOrder = { ...this.#fileOrder(rel, kind.type), options };
    try {
      const response = await this.#ask('preview', order, { processorMs: PAGE_MS });
      return (await response.json()) as TypedPreview;
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      const text = `Its first lines take longer than ${PAGE_MS / 1000} seconds to read`;
      throw new AppError('unreadable-file', text, { cause: error });
    }
  }

  /** Throws `unreadable-file` when it takes too long. */
  async previewText(
    { rel, kind }: Pick<Resource, 'rel' | 'kind'>,
    text: string,
    options: ReadOptions,
  ): Promise<TextPreview> {
    const order: TextOrder = { ...this.#fileOrder(rel, kind.type), options, text };
    try {
      const response = await this.#ask('preview-text', order, { processorMs: PAGE_MS });
      return (await response.json()) as TextPreview;
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      throw new AppError('unreadable-file', 'It takes too long to be shown', { cause: error });
    }
  }

  /** For a document that takes too long its plain source text. */
  async extractSections(
    { rel, type, out }: Pick<SectionsOrder, 'rel' | 'type' | 'out'>,
    turn: Turn,
  ): Promise<void> {
    const { max_document_bytes: maxBytes } = this.#config().search;
    const order: SectionsOrder = { ...this.#fileOrder(rel, type), maxBytes, out, isBare: false };
    const limits = { processorMs: SECTIONS_MS, turn };
    try {
      await this.#ask('sections', order, limits);
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      await this.#ask('sections', { ...order, isBare: true } satisfies SectionsOrder, limits);
    }
  }

  /** As a unified diff. */
  async difference(name: string, before: string, after: string): Promise<string> {
    const order: DifferenceOrder = { name, before, after };
    return (await this.#ask('difference', order, { processorMs: PAGE_MS })).text();
  }

  async readDocument(
    job: DocumentJobName,
    { rel, type }: Resource,
    maxBytes: number,
  ): Promise<string> {
    const order: DocumentFileOrder = { ...this.#fileOrder(rel, type), maxBytes };
    return (await this.#ask(job, order, { processorMs: PAGE_MS })).text();
  }

  /** What the file's text would be. Throws as the kind. */
  async patchDashboard(
    { rel, type }: Pick<Resource, 'rel' | 'type'>,
    patch: DashboardPatch,
  ): Promise<PatchedDashboard> {
    const order: PatchOrder = { ...this.#fileOrder(rel, type), patch };
    const answer = await this.#ask('patch-dashboard', order, { processorMs: PAGE_MS });
    return (await answer.json()) as PatchedDashboard;
  }

  #fileOrder(rel: string, type: string): FileOrder {
    const { docroot, state_dir: stateDir, limits } = this.#config();
    return { docroot, stateDir, rel, type, limits: { maxBytes: limits.max_workbook_bytes } };
  }

  #ask(
    job: string,
    order: FileOrder | SectionsOrder | DifferenceOrder,
    limits: Pick<ChildRequestOptions, 'processorMs' | 'turn'> = {},
  ): Promise<Response> {
    const timeoutMs = this.#config().limits.parse_timeout_seconds * 1000;
    return this.#pool.request(job, order, { timeoutMs, isOfWork: true, ...limits });
  }
}
