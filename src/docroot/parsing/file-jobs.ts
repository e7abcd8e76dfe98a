/** They parse hostile bytes, so they run in a process that can be killed. */
import { formatPatch, structuredPatch } from 'diff';
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { contentOf } from '../../base/files/compressed-file.ts';
import type { FileSource } from '../../base/files/file-source.ts';
import { shortId } from '../../base/ids.ts';
import { fileNameOf, stemOf } from '../../base/paths.ts';
import { looksLikeText, readText } from '../../base/text/text-bytes.ts';
import type { ChildJobs } from '../../processes/child-server.ts';
import type { ReadOptions, TableLayout } from '../../tables/types.ts';
import type { FilePreview, TypedPreview } from '../../tables/infer/file-preview.ts';
import { loadTable } from '../../tables/copy/load.ts';
import { companionPaths, readOptions } from '../companions.ts';
import type { Dashboard, DashboardPatch, ReadDashboard } from '../dashboard.ts';
import { DocumentRoot } from '../document-root.ts';
import { changesOf, editPlanResponse, type WireChanges } from './edit-wire.ts';
import type {
  Kind,
  KindContext,
  KindLimits,
  MediaMetadata,
  PictureSize,
  ReadAlert,
  RenderedDocument,
  SheetName,
} from '../kind.ts';
import { type OpenedFile, openForRead } from '../opener.ts';

/** Takes a second. */
const MAX_EDITED_LINES = 4_000;

export interface FileOrder {
  readonly docroot: string;
  readonly stateDir: string;
  readonly rel: string;
  readonly type: string;
  readonly limits: KindLimits;
}

export interface EditOrder extends FileOrder {
  readonly layout: TableLayout;
  readonly changes: WireChanges;
}

export interface PreviewOrder extends FileOrder {
  readonly options: ReadOptions;
}

export interface DocumentFileOrder extends FileOrder {
  readonly maxBytes: number;
}

export interface PatchedDashboard extends ReadDashboard {
  readonly text: string;
}

export interface PatchOrder extends FileOrder {
  readonly patch: DashboardPatch;
}

export interface SectionsOrder extends DocumentFileOrder {
  readonly out: string;
  /** The plain source text, because the kind's own `sections` takes too long. */
  readonly isBare: boolean;
}

export interface TextOrder extends FileOrder {
  readonly options: ReadOptions;
  readonly text: string;
}

/** What a text would be as that file; null members where the kind has none. */
export interface TextPreview {
  /** From the allow list of the sanitiser. */
  readonly body: string | null;
  readonly table: Pick<FilePreview, 'columns' | 'rows'> | null;
  readonly problem: string | null;
}

export interface DifferenceOrder {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** All throw as the kind. */
export function fileJobs(kinds: readonly Kind[]): ChildJobs {
  return {
    sheets: async (body) => Response.json(await listSheets(body as FileOrder, kinds)),
    // Null: the file itself is the resource.
    detect: async (body) =>
      Response.json((await isPublished(body as FileOrder, kinds)) ? null : []),
    edit: (body) => editFile(body as EditOrder, kinds),
    render: async (body) => Response.json(await renderFile(body as DocumentFileOrder, kinds)),
    alert: async (body) => Response.json(await readAlert(body as FileOrder, kinds)),
    dashboard: async (body) => Response.json(await readDashboard(body as FileOrder, kinds)),
    'patch-dashboard': async (body) =>
      Response.json(await patchDashboard(body as PatchOrder, kinds)),
    metadata: async (body) => Response.json(await readMediaMetadata(body as FileOrder, kinds)),
    preview: async (body) => Response.json(await previewFile(body as PreviewOrder, kinds)),
    picture: async (body) => Response.json(await readPictureSize(body as FileOrder, kinds)),
    'preview-text': async (body) => Response.json(await previewText(body as TextOrder, kinds)),
    difference: async (body) => new Response(difference(body as DifferenceOrder)),
    sections: async (body) => {
      await writeSections(body as SectionsOrder, kinds);
      return new Response(null, { status: 204 });
    },
  };
}

/** Unified; texts with little in common are shown as removed and added. */
function difference({ name, before, after }: DifferenceOrder): string {
  const options = { context: 3, maxEditLength: MAX_EDITED_LINES };
  const found = structuredPatch(name, name, before, after, '', '', options);
  if (found !== undefined) return formatPatch(found);
  const signed = (sign: string, text: string): string[] =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => sign + line);
  return [`--- ${name}`, `+++ ${name}`, ...signed('-', before), ...signed('+', after), ''].join(
    '\n',
  );
}

async function listSheets(order: FileOrder, kinds: readonly Kind[]): Promise<SheetName[]> {
  const { sheets } = datasetKindOf(order, kinds);
  if (!sheets) throw new AppError('internal', `${order.type} files are one table each`);
  return withFile(order, (source) => sheets(source, contextOf(order)));
}

async function previewFile(order: PreviewOrder, kinds: readonly Kind[]): Promise<TypedPreview> {
  const { preview } = datasetKindOf(order, kinds);
  if (!preview) throw new AppError('internal', `${order.type} files are read in one way only`);
  const context = contextOf(order);
  const start = await withFile(order, async (source) =>
    preview(await contentOf(source, order.rel, order.limits.maxBytes), order.options, context),
  );
  return { ...start, types: await typesOf(start, order.options, context.scratch) };
}

async function previewText(order: TextOrder, kinds: readonly Kind[]): Promise<TextPreview> {
  const bytes = Buffer.from(order.text);
  const source: FileSource = {
    size: bytes.length,
    read: async (at, length) => bytes.subarray(at, at + length),
  };
  const { dashboard, dataset, render } = kindOf(order, kinds);
  const none: TextPreview = { body: null, table: null, problem: null };
  try {
    if (render) {
      const { body } = await render(source, { rel: order.rel, maxBytes: bytes.length });
      return { ...none, body };
    }
    if (dashboard) {
      await dashboard.read(source, order.rel);
      return none;
    }
    if (!dataset?.preview) return none;
    const { columns, rows, problem } = await dataset.preview(
      source,
      order.options,
      contextOf(order),
    );
    return { ...none, table: { columns, rows }, problem };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...none, problem: error.message };
  }
}

/** By a typed copy of the few rows, so that types are found as for the whole file. */
async function typesOf(
  { columns, rows, found }: FilePreview,
  spellings: ReadOptions,
  scratch: string,
): Promise<TypedPreview['types']> {
  const path = join(scratch, `preview-${shortId()}`);
  try {
    const table = await loadTable({
      path,
      read: async (sink) => {
        sink.header(columns, undefined, found?.delimiter);
        sink.segment({ rows: rows.length, bytes: 0 }, rows);
        sink.layout({}, 0);
      },
      companion: null,
      spellings,
    });
    return table.columns
      .slice(0, columns.length)
      .map(({ type, format }) => ({ type, ...(format && { format }) }));
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }
}

async function isPublished(order: FileOrder, kinds: readonly Kind[]): Promise<boolean> {
  const kind = kinds.find(({ type }) => type === order.type);
  if (!kind?.detection) return true;
  const { detection } = kind;
  const { docroot, stateDir, rel } = order;
  const companions = companionPaths(rel, null, false).options;
  const root = new DocumentRoot(docroot, stateDir);
  const { options } = await readOptions(root, companions, kind, { rel, sheet: null });
  return withFile(order, (source) => detection.isPublished(source, rel, options));
}

/** To a file: sending megabytes of text through the server would block it. */
async function writeSections(order: SectionsOrder, kinds: readonly Kind[]): Promise<void> {
  const { sections } = kindOf(order, kinds);
  const found = await withFile(order, async (source) => {
    if (!order.isBare) return sections?.(source, order) ?? [];
    if (!(await looksLikeText(source))) return [];
    const text = await readText(source, order.maxBytes);
    return [{ title: fileNameOf(stemOf(order.rel)), anchor: null, text }];
  });
  await writeFile(order.out, JSON.stringify(found), { mode: 0o600 });
}

async function editFile(order: EditOrder, kinds: readonly Kind[]): Promise<Response> {
  const { edit } = datasetKindOf(order, kinds);
  if (!edit) throw new AppError('internal', `${order.type} files cannot be edited`);
  const plan = await withFile(order, (source) =>
    edit(source, order.layout, changesOf(order.changes), order.limits),
  );
  return editPlanResponse(plan);
}

async function renderFile(
  order: DocumentFileOrder,
  kinds: readonly Kind[],
): Promise<RenderedDocument> {
  const { render } = kindOf(order, kinds);
  if (!render) throw new AppError('internal', `${order.type} files are served as they are`);
  return withFile(order, (source) => render(source, order));
}

async function readAlert(order: FileOrder, kinds: readonly Kind[]): Promise<ReadAlert> {
  const { alert } = kindOf(order, kinds);
  if (!alert) throw new AppError('internal', `${order.type} files are no alerts`);
  return withFile(order, (source) => alert(source, order.rel));
}

async function readDashboard(order: FileOrder, kinds: readonly Kind[]): Promise<ReadDashboard> {
  const { read } = dashboardKindOf(order, kinds);
  return withFile(order, async (source) => withTexts(await read(source, order.rel), order, kinds));
}

async function patchDashboard(
  order: PatchOrder,
  kinds: readonly Kind[],
): Promise<PatchedDashboard> {
  const { read, patch } = dashboardKindOf(order, kinds);
  const text = await withFile(order, (source) => patch(source, order.rel, order.patch));
  const dashboard = await read(sourceOfText(text), order.rel);
  return { text, ...(await withTexts(dashboard, order, kinds)) };
}

async function withTexts(
  dashboard: Dashboard,
  { rel }: FileOrder,
  kinds: readonly Kind[],
): Promise<ReadDashboard> {
  const { render } = kinds.find(({ type }) => type === 'markdown')!;
  const texts: Record<string, string> = {};
  for (const [index, row] of dashboard.rows.entries()) {
    for (const [place, { text }] of row.panels.entries()) {
      if (text === undefined) continue;
      const source = sourceOfText(text);
      const { body } = await render!(source, { rel, maxBytes: source.size });
      texts[`${index}/${place}`] = body;
    }
  }
  return { dashboard, texts };
}

function sourceOfText(text: string): FileSource {
  const bytes = Buffer.from(text);
  return {
    size: bytes.length,
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  };
}

function dashboardKindOf(order: FileOrder, kinds: readonly Kind[]): NonNullable<Kind['dashboard']> {
  const { dashboard } = kindOf(order, kinds);
  if (!dashboard) throw new AppError('internal', `${order.type} files are no dashboards`);
  return dashboard;
}

async function readMediaMetadata(order: FileOrder, kinds: readonly Kind[]): Promise<MediaMetadata> {
  const { metadata } = kindOf(order, kinds);
  if (!metadata) throw new AppError('internal', `${order.type} files have no metadata`);
  return withFile(order, (source) => metadata(source, order.rel));
}

async function readPictureSize(
  order: FileOrder,
  kinds: readonly Kind[],
): Promise<PictureSize | null> {
  const { pictureSize } = kindOf(order, kinds);
  return pictureSize === undefined ? null : withFile(order, pictureSize);
}

function kindOf({ type }: FileOrder, kinds: readonly Kind[]): Kind {
  const kind = kinds.find((candidate) => candidate.type === type);
  if (!kind) throw new AppError('internal', `No reader for ${type}`);
  return kind;
}

function datasetKindOf(order: FileOrder, kinds: readonly Kind[]): NonNullable<Kind['dataset']> {
  const { dataset } = kindOf(order, kinds);
  if (!dataset) throw new AppError('internal', `No tables in ${order.type}`);
  return dataset;
}

/** For a file of the document root, in a child. */
export function contextOf({
  docroot,
  stateDir,
  rel,
  limits,
}: Pick<FileOrder, 'docroot' | 'stateDir' | 'rel' | 'limits'>): KindContext {
  return {
    ...limits,
    // The server made it. A folder made here would be in the place of a state that was moved away.
    scratch: join(stateDir, 'tmp'),
    beside: async (suffix) => {
      try {
        return await openForRead(new DocumentRoot(docroot, stateDir), rel + suffix);
      } catch (error) {
        if (error instanceof AppError && error.code === 'not-found') return null;
        throw error;
      }
    },
  };
}

async function withFile<T>(
  { docroot, stateDir, rel }: FileOrder,
  work: (source: OpenedFile) => Promise<T>,
): Promise<T> {
  const source = await openForRead(new DocumentRoot(docroot, stateDir), rel);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
