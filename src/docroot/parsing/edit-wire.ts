/** JSON, followed by the new bytes of the plan. Integers past 2^53 and `undefined` in a list are encoded here. */
import type { Cell, EditPlan, TableChanges, TableLayout } from '../../tables/types.ts';

type WireCell = Exclude<Cell, bigint> | { readonly bigint: string };
type WireRow = readonly (readonly [number, WireCell])[];

export interface WireChanges {
  readonly updates: readonly (readonly [number, WireRow])[];
  readonly deletes: readonly number[];
  readonly creates: readonly WireRow[];
}

type Delivered = NonNullable<EditPlan['delivered']>[number];

interface WirePlan {
  readonly layout: TableLayout;
  readonly pieces: readonly ({ readonly from: number; readonly to: number } | number)[];
  readonly cells: readonly (readonly [number, WireCell | undefined, WireCell | undefined])[];
  readonly delivered: readonly (Omit<Delivered, 'cell'> & { readonly cell: WireCell })[];
  readonly changedSheets: readonly string[];
  readonly isReread: boolean;
}

const ABSENT = { absent: true } as const;

export function editPlanResponse(plan: EditPlan): Response {
  const wire: WirePlan = {
    layout: plan.layout,
    pieces: plan.pieces.map((piece) => (piece instanceof Uint8Array ? piece.length : piece)),
    cells: plan.cells.map(({ position, before, after }) => [
      position,
      before === undefined ? undefined : toWire(before),
      after === undefined ? undefined : toWire(after),
    ]),
    delivered: (plan.delivered ?? []).map((entry) => ({ ...entry, cell: toWire(entry.cell) })),
    changedSheets: plan.changedSheets ?? [],
    isReread: plan.isReread === true,
  };
  // An undefined in an array would become null, which is a valid cell.
  const head = Buffer.from(
    JSON.stringify(wire, (_, value) => (value === undefined ? ABSENT : value)),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  const bytes = plan.pieces.filter((piece) => piece instanceof Uint8Array);
  return new Response(new Blob([size, head, ...(bytes as Uint8Array<ArrayBuffer>[])]));
}

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
    changedSheets: wire.changedSheets,
    isReread: wire.isReread,
  };
}

export function wireChanges({ updates, deletes, creates }: TableChanges): WireChanges {
  return {
    updates: [...updates].map(([position, row]) => [position, wireRow(row)] as const),
    deletes: [...deletes],
    creates: creates.map(wireRow),
  };
}

export function changesOf({ updates, deletes, creates }: WireChanges): TableChanges {
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
