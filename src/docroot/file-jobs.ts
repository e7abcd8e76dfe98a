/**
 * The jobs of the parse worker beside `load`: telling what a file is, listing the tables in it, editing it as a whole,
 * reading documents and media. They read hostile bytes, so they run where they can be killed.
 */
import { writeFile } from 'node:fs/promises';
import { AppError } from '../base/errors.ts';
import type { Cell, EditPlan, TableChanges, TableLayout } from '../dataset/types.ts';
import { DocumentRoot } from './document-root.ts';
import type { Kind, KindLimits, MediaMetadata, RenderedDocument } from './kind.ts';
import { type OpenedFile, openForRead } from './opener.ts';

/** A file for a worker to open itself. */
export interface FileOrder {
  readonly docroot: string;
  readonly stateDir: string;
  readonly rel: string;
  /** Resource type, which decides the plugin. */
  readonly type: string;
  readonly limits: KindLimits;
}

/** An edit as it travels to the worker. */
export interface EditOrder extends FileOrder {
  readonly layout: TableLayout;
  readonly changes: WireChanges;
}

/** A document as it goes to the worker. */
export interface DocumentJob extends FileOrder {
  /** Bytes of the file to look at. */
  readonly maxBytes: number;
}

/** Where the sections of a document are to be written. */
export interface SectionsOrder extends DocumentJob {
  /** Path of the new file, a JSON list. */
  readonly out: string;
}

type WireCell = Exclude<Cell, bigint> | { readonly bigint: string };
type WireRow = readonly (readonly [number, WireCell])[];

interface WireChanges {
  readonly updates: readonly (readonly [number, WireRow])[];
  readonly deletes: readonly number[];
  readonly creates: readonly WireRow[];
}

type Delivered = NonNullable<EditPlan['delivered']>[number];

/** What comes back before the new bytes: the plan with the lengths of its pieces. */
interface WirePlan {
  readonly layout: TableLayout;
  readonly pieces: readonly ({ readonly from: number; readonly to: number } | number)[];
  readonly cells: readonly (readonly [number, WireCell | undefined, WireCell | undefined])[];
  readonly delivered: readonly (Omit<Delivered, 'cell'> & { readonly cell: WireCell })[];
}

/** Names of the tables in the file. Throws as the kind. */
export async function listSheets(order: FileOrder, kinds: readonly Kind[]): Promise<string[]> {
  const { sheets } = datasetKindOf(order, kinds);
  if (!sheets) throw new AppError('internal', `${order.type} files are one table each`);
  return withFile(order, (source) => sheets(source, order.limits));
}

/** Whether the file is published, as its kind tells from its content (DS-163). Throws as the kind. */
export async function isPublished(order: FileOrder, kinds: readonly Kind[]): Promise<boolean> {
  const kind = kinds.find(({ type }) => type === order.type);
  if (!kind?.detection) return true;
  const { detection } = kind;
  return withFile(order, (source) => detection.isPublished(source, order.rel));
}

/**
 * Writes what search finds in a file that is no dataset to `out`, a JSON list: texts of megabytes would hold up the server
 * on their way through. Throws as the kind.
 */
export async function writeSections(order: SectionsOrder, kinds: readonly Kind[]): Promise<void> {
  const { sections } = kindOf(order, kinds);
  const found =
    sections === undefined ? [] : await withFile(order, (source) => sections(source, order));
  await writeFile(order.out, JSON.stringify(found), { mode: 0o600 });
}

/** The new file after the order's changes, as a response for `readEditPlan`. Throws as the kind. */
export async function editFile(order: EditOrder, kinds: readonly Kind[]): Promise<Response> {
  const { edit } = datasetKindOf(order, kinds);
  if (!edit) throw new AppError('internal', `${order.type} files cannot be edited`);
  const plan = await withFile(order, (source) =>
    edit(source, order.layout, changesOf(order.changes), order.limits),
  );
  const wire: WirePlan = {
    layout: plan.layout,
    pieces: plan.pieces.map((piece) => (piece instanceof Uint8Array ? piece.length : piece)),
    cells: plan.cells.map(({ position, before, after }) => [
      position,
      before === undefined ? undefined : toWire(before),
      after === undefined ? undefined : toWire(after),
    ]),
    delivered: (plan.delivered ?? []).map((entry) => ({ ...entry, cell: toWire(entry.cell) })),
  };
  // An undefined in an array would become null, which is a cell too.
  const head = Buffer.from(
    JSON.stringify(wire, (_, value) => (value === undefined ? ABSENT : value)),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  const bytes = plan.pieces.filter((piece) => piece instanceof Uint8Array);
  return new Response(new Blob([size, head, ...(bytes as Uint8Array<ArrayBuffer>[])]));
}

const ABSENT = { absent: true } as const;

/** The plan in a worker's answer. */
export async function readEditPlan(response: Response): Promise<EditPlan> {
  const bytes = await response.bytes();
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const wire = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))) as WirePlan;
  let at = end;
  return {
    layout: wire.layout,
    pieces: wire.pieces.map((piece) => {
      if (typeof piece !== 'number') return piece;
      at += piece;
      return bytes.subarray(at - piece, at);
    }),
    cells: wire.cells.map(([position, before, after]) => ({
      position,
      before: presentCell(before),
      after: presentCell(after),
    })),
    delivered: wire.delivered.map((entry) => ({ ...entry, cell: fromWire(entry.cell) })),
  };
}

/** A document as a page. Throws as the kind. */
export async function renderFile(
  order: DocumentJob,
  kinds: readonly Kind[],
): Promise<RenderedDocument> {
  const { render } = kindOf(order, kinds);
  if (!render) throw new AppError('internal', `${order.type} files are served as they are`);
  return withFile(order, (source) => render(source, order));
}

/** What a media file says about itself. Throws as the kind. */
export async function readMediaMetadata(
  order: FileOrder,
  kinds: readonly Kind[],
): Promise<MediaMetadata> {
  const { metadata } = kindOf(order, kinds);
  if (!metadata) throw new AppError('internal', `${order.type} files have no metadata`);
  return withFile(order, (source) => metadata(source, order.rel));
}

/** Changes as JSON can carry them. */
export function wireChanges({ updates, deletes, creates }: TableChanges): WireChanges {
  return {
    updates: [...updates].map(([position, row]) => [position, wireRow(row)] as const),
    deletes: [...deletes],
    creates: creates.map(wireRow),
  };
}

function changesOf({ updates, deletes, creates }: WireChanges): TableChanges {
  return {
    updates: new Map(updates.map(([position, row]) => [position, rowOf(row)])),
    deletes: new Set(deletes),
    creates: creates.map(rowOf),
  };
}

function wireRow(row: ReadonlyMap<number, Cell>): WireRow {
  return [...row].map(([position, cell]) => [position, toWire(cell)] as const);
}

function rowOf(row: WireRow): Map<number, Cell> {
  return new Map(row.map(([position, cell]) => [position, fromWire(cell)]));
}

function toWire(cell: Cell): WireCell {
  return typeof cell === 'bigint' ? { bigint: String(cell) } : cell;
}

function fromWire(cell: WireCell): Cell {
  return cell !== null && typeof cell === 'object' ? BigInt(cell.bigint) : cell;
}

function presentCell(cell: WireCell | undefined): Cell | undefined {
  const isAbsent = cell !== null && typeof cell === 'object' && 'absent' in cell;
  return cell === undefined || isAbsent ? undefined : fromWire(cell);
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
