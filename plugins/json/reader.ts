/**
 * Read twice: first for the names and kinds of values, which may be new in any row, then for the cells. Memory: a
 * segment, except for columns side by side, which are held as a whole.
 */
import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { FileColumn } from '../../src/tables/infer/file-type.ts';
import type { Cell, ReadOptions, RowSink } from '../../src/tables/types.ts';
import { cellAt } from './cells.ts';
import { Columns } from './columns.ts';
import { type OnRow, RowStream, type RowPlace } from './row-stream.ts';
import { JsonFault, MemberSpans } from './scan.ts';
import { type Shape, shapeOf, type ValueColumn } from './shape.ts';

/** How rows are written; kept for edits. */
export interface Dialect {
  readonly isList: boolean;
  readonly keys: readonly string[];
  readonly types: readonly (FileColumn | null)[];
  /** Bytes of the separator before the first row. */
  readonly lead: number;
  /** Bytes after the last row. */
  readonly tail: number;
}

const COLUMNS_ARE_READ_ONLY =
  'JSON with a list for each column is read-only; write it as a list of objects or as lines';
const FEATURES_ARE_READ_ONLY =
  'GeoJSON is read-only; edit it in a program for maps, or publish the rows as CSV';
const ROWS_AT_ONCE = 1_024;

/** Throws `unreadable-file` with the byte offset. */
export async function readJson(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
): Promise<void> {
  const shape = await guarded(() => shapeOf(source, options));
  if (shape === null) throw unreadable('it holds no list of objects');
  if (shape.kind === 'columns')
    return guarded(async () => readColumns(shape.text, shape.columns, sink));
  await readRows(source, shape, sink);
}

/** Positions of faults are characters here, not bytes. */
async function guarded<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof JsonFault) throw unreadable(`${error.message} at character ${error.at}`);
    throw error;
  }
}

async function readRows(
  source: FileSource,
  { place, isFeatures, isWhole }: Extract<Shape, { kind: 'rows' }>,
  sink: RowSink,
): Promise<void> {
  const eachMember = isFeatures ? new FeatureMembers().visit : visitMembers;
  const columns = new Columns();
  await eachRow(source, place, (text, spans) => {
    eachMember(text, spans, (members, member) => {
      const position = columns.position(text, members, member);
      columns.note(position, text, members.valueFrom(member), members.valueTo(member));
    });
  });
  const types = columns.types();
  sink.header(columns.names(), types);
  const width = types.length;
  const stream = new RowStream(source, place);
  for (;;) {
    const rows: Cell[][] = [];
    const segment = await stream.segment((text, spans) => {
      const cells = new Array<Cell>(width).fill(null);
      eachMember(text, spans, (members, member) => {
        const position = columns.position(text, members, member);
        const [from, to] = [members.valueFrom(member), members.valueTo(member)];
        cells[position] = cellAt(text, from, to, types[position]!);
      });
      rows.push(cells);
    });
    if (segment === null) break;
    sink.segment(segment, rows);
  }
  const tail = source.size - stream.end;
  if (place.isList && isWhole) await requireEnd(source, stream.end);
  const dialect: Dialect = {
    isList: place.isList,
    keys: columns.keys,
    types,
    lead: stream.lead,
    tail,
  };
  const readOnly = isFeatures ? { readOnlyReason: FEATURES_ARE_READ_ONLY } : {};
  sink.layout({ ...dialect, ...readOnly }, place.from);
}

async function eachRow(source: FileSource, place: RowPlace, onRow: OnRow): Promise<void> {
  const stream = new RowStream(source, place);
  while ((await stream.segment(onRow)) !== null);
}

async function requireEnd(source: FileSource, from: number): Promise<void> {
  const rest = await readBytes(source, from, source.size - from);
  const at = rest.toString('latin1').search(/[^ \t\r\n]/);
  const after = rest
    .subarray(at + 1)
    .toString('latin1')
    .search(/[^ \t\r\n]/);
  if (after >= 0) throw unreadable(`text after the list at byte offset ${from + at + 1 + after}`);
}

type VisitMember = (members: MemberSpans, member: number) => void;

function visitMembers(_text: string, spans: MemberSpans, visit: VisitMember): void {
  for (let member = 0; member < spans.count; member++) visit(spans, member);
}

/** The properties of a feature beside its own members, without those that say that it is one. */
class FeatureMembers {
  readonly #properties = new MemberSpans();

  readonly visit = (text: string, spans: MemberSpans, visit: VisitMember): void => {
    let geometry = -1;
    for (let member = 0; member < spans.count; member++) {
      const name = text.slice(spans.nameFrom(member), spans.nameTo(member));
      const isProperties = name === 'properties' && text[spans.valueFrom(member)] === '{';
      if (isProperties) {
        const end = this.#properties.scan(text, spans.valueFrom(member));
        if (end !== spans.valueTo(member)) throw new JsonFault('brackets that do not match', end);
        visitMembers(text, this.#properties, visit);
      } else if (name === 'geometry') geometry = member;
      else if (name !== 'type' && name !== 'properties') visit(spans, member);
    }
    if (geometry >= 0) visit(spans, geometry);
  };
}

async function readColumns(
  text: string,
  valueColumns: readonly ValueColumn[],
  sink: RowSink,
): Promise<void> {
  const columns = Columns.of(valueColumns.map(({ name }) => name));
  for (const [position, { spans }] of valueColumns.entries()) {
    for (let at = 0; at < spans.length; at += 2) {
      columns.note(position, text, spans[at]!, spans[at + 1]!);
    }
  }
  const types = columns.types();
  sink.header(columns.names(), types);
  const count = valueColumns[0]!.spans.length / 2;
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first) }, (_, row) =>
      valueColumns.map(({ spans }, position) => {
        const at = (first + row) * 2;
        return cellAt(text, spans[at]!, spans[at + 1]!, types[position]!);
      }),
    );
    sink.segment({ rows: rows.length, bytes: 0 }, rows);
  }
  sink.layout({ readOnlyReason: COLUMNS_ARE_READ_ONLY }, 0);
}
