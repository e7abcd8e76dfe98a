/**
 * Only the bytes of touched values and rows change, only segments with touched rows are read.
 *
 * A value keeps its place, a new member follows the last one in the style of its row, and a new row is written like
 * the last one.
 */
import { mismatch } from '../../src/base/errors.ts';
import { changedFile, type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { strictText } from '../../src/base/text/text-bytes.ts';
import type { Cell, EditPlan, Segment, TableChanges, TableLayout } from '../../src/tables/types.ts';
import {
  type OldSegment,
  ROWS_PER_TURN,
  SegmentEdit,
  TakenText,
} from '../../src/tables/edit/segment-edit.ts';
import { cellAt, compact, jsonOf } from './cells.ts';
import { Columns } from './columns.ts';
import type { Dialect } from './reader.ts';
import { MAX_ROW_BYTES, SEGMENT_BYTES } from './row-stream.ts';
import { MemberSpans, skipSpace } from './scan.ts';

type RowCells = ReadonlyMap<number, Cell>;

/** Throws `schema-mismatch` for nested text that is no JSON, `conflict` when the file is not the layout's. */
export async function editJson(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  return new FileEdit(source, layout, changes).run();
}

/** How a row is written: the white space in it, and its names. */
interface RowStyle {
  /** After the opening brace, and before the closing one. */
  readonly open: string;
  readonly close: string;
  /** Between a value and the next name, with the comma. */
  readonly between: string;
  /** Between a name and its value, with the colon. */
  readonly colon: string;
  /** Positions of the columns, with the names as written. */
  readonly names: ReadonlyMap<number, string>;
}

/** One edit in progress: goes over the segments once, in file order. */
class FileEdit {
  readonly #source: FileSource;
  readonly #layout: TableLayout;
  readonly #changes: TableChanges;
  readonly #dialect: Dialect;
  readonly #columns: Columns;
  readonly #edit: SegmentEdit;
  readonly #cells: EditPlan['cells'][number][] = [];
  readonly #delivered: NonNullable<EditPlan['delivered']>[number][] = [];
  readonly #spans = new MemberSpans();
  /** The next row of the new file has the separator of the old first one. */
  #isFirst = true;

  constructor(source: FileSource, layout: TableLayout, changes: TableChanges) {
    this.#source = source;
    this.#layout = layout;
    this.#changes = changes;
    this.#dialect = layout.dialect as unknown as Dialect;
    this.#columns = Columns.of(this.#dialect.keys);
    this.#edit = new SegmentEdit(layout, changes);
  }

  async run(): Promise<EditPlan> {
    const { bodyOffset } = this.#layout;
    const { creates } = this.#changes;
    const { file, segments, end } = this.#edit;
    this.#edit.require(this.#source, this.#dialect.tail);
    if (creates.length > 0 && this.#dialect.keys.length === 0) {
      throw mismatch('a file without a row has no columns to write');
    }
    await this.#edit.walk((segment) => this.#take(segment));
    if (creates.length > 0) await this.#append();
    file.add({ from: end, to: this.#source.size });
    const lead = this.#isFirst ? 0 : this.#dialect.lead;
    return {
      pieces: file.pieces,
      layout: { dialect: { ...this.#dialect, lead }, bodyOffset, segments },
      cells: this.#cells,
      delivered: this.#delivered,
    };
  }

  #take(segment: OldSegment): false | Promise<void> {
    // After deleted rows the first one left takes the place of the file's first one.
    const isMoved = this.#isFirst && segment.firstRow > 0 && segment.rows > 0;
    if (segment.touched.length > 0 || isMoved) return this.#rewrite(segment);
    this.#isFirst &&= segment.rows === 0;
    return false;
  }

  async #rewrite(segment: OldSegment): Promise<void> {
    const { offset, firstRow } = segment;
    const { file } = this.#edit;
    const { updates, deletes } = this.#changes;
    const text = await this.#textOf(segment, offset);
    const old = new TakenText(text, offset, Buffer.byteLength);
    let count = 0;
    let at = 0;
    for (let row = 0; row < segment.rows; row++) {
      const from = this.#rowAt(text, at);
      const end = this.#spans.scan(text, from);
      if (end < 0) throw changedFile();
      if (deletes.has(firstRow + row)) {
        this.#noteDeleted(text);
        old.take(end);
      } else {
        count++;
        if (this.#isFirst && firstRow + row > 0) {
          old.take(from);
          this.#addLead();
        } else file.add(old.take(from));
        this.#isFirst = false;
        const cells = updates.get(firstRow + row);
        if (cells) this.#update(text, { cells, row: firstRow + row, from }, old);
        file.add(old.take(end));
      }
      at = end;
    }
    this.#edit.endSegment(count);
  }

  async #textOf({ bytes }: Segment, offset: number): Promise<string> {
    return strictText(await readBytes(this.#source, offset, bytes), 'utf-8', offset);
  }

  /** Where the row after the separator at `at` begins. */
  #rowAt(text: string, at: number): number {
    let from = skipSpace(text, at);
    if (text[from] === ',') from = skipSpace(text, from + 1);
    if (text[from] !== '{') throw changedFile();
    return from;
  }

  #addLead(): void {
    const { bodyOffset } = this.#layout;
    this.#edit.file.add({ from: bodyOffset, to: bodyOffset + this.#dialect.lead });
  }

  #noteDeleted(text: string): void {
    const values = new Map<number, Cell>();
    for (let member = 0; member < this.#spans.count; member++) {
      values.set(...this.#cellOf(text, member));
    }
    for (const [position, before] of values)
      this.#cells.push({ position, before, after: undefined });
  }

  #cellOf(text: string, member: number): [position: number, cell: Cell] {
    const spans = this.#spans;
    const position = this.#columns.position(text, spans, member);
    const type = this.#dialect.types[position];
    if (type === undefined) throw changedFile();
    return [position, cellAt(text, spans.valueFrom(member), spans.valueTo(member), type)];
  }

  #update(
    text: string,
    {
      cells,
      row,
      from: rowFrom,
    }: { readonly cells: RowCells; readonly row: number; readonly from: number },
    old: TakenText,
  ): void {
    const spans = this.#spans;
    // Of a name that occurs twice the last one counts.
    const members = new Map<number, number>();
    for (let member = 0; member < spans.count; member++) {
      members.set(this.#columns.position(text, spans, member), member);
    }
    const known = [...cells].filter(([position]) => members.has(position));
    known.sort(([a], [b]) => members.get(a)! - members.get(b)!);
    for (const [position, cell] of known) {
      const member = members.get(position)!;
      const [from, to] = [spans.valueFrom(member), spans.valueTo(member)];
      const before = text.slice(from, to);
      const after = this.#json(cell, position, before, { update: row });
      if (after === before) continue;
      this.#cells.push({
        position,
        before: this.#cellOf(text, member)[1],
        after: this.#read(after, position),
      });
      this.#edit.file.add(old.take(from), Buffer.from(after));
      old.take(to);
    }
    const added = [...cells].filter(([position, cell]) => !members.has(position) && cell !== null);
    if (added.length === 0) return;
    const style = styleOf(text, spans, this.#columns);
    const written = added.map(([position, cell]) => {
      const value = this.#json(cell, position, '', { update: row });
      this.#cells.push({ position, before: undefined, after: this.#read(value, position) });
      return JSON.stringify(this.#dialect.keys[position]) + style.colon + value;
    });
    const last = spans.count - 1;
    const isEmpty = last < 0;
    const end = isEmpty ? rowFrom + 1 : spans.valueTo(last);
    const joined = written.join(style.between);
    this.#edit.file.add(old.take(end), Buffer.from(isEmpty ? joined : style.between + joined));
  }

  #json(
    cell: Cell,
    position: number,
    before: string,
    origin: { readonly update: number } | { readonly create: number },
  ): string {
    const type = this.#dialect.types[position]!;
    if (type?.type.kind !== 'nested' || cell === null) return jsonOf(cell, type, before);
    const text = compact(String(cell));
    if (text === null) {
      const name = this.#dialect.keys[position]!;
      throw mismatch(`column '${name}': expected a JSON list or object, received other text`);
    }
    if (text !== cell) this.#delivered.push({ origin, position, cell: text });
    return text;
  }

  #read(json: string, position: number): Cell {
    return cellAt(json, 0, json.length, this.#dialect.types[position]!);
  }

  async #append(): Promise<void> {
    const { creates } = this.#changes;
    const { style, separator } = await this.#lastStyle();
    let pending = '';
    let count = 0;
    const flush = (): void => {
      this.#edit.file.add(Buffer.from(pending));
      pending = '';
      if (count > 0) this.#edit.endSegment(count);
      count = 0;
    };
    for (const [index, cells] of creates.entries()) {
      if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await Bun.sleep(0);
      if (this.#isFirst) {
        if (this.#edit.rows > 0) this.#addLead();
        this.#isFirst = false;
      } else pending += separator;
      const row = this.#newRow(cells, index, style);
      if (row.length > MAX_ROW_BYTES) throw mismatch(`a row may not exceed ${MAX_ROW_BYTES} bytes`);
      pending += row;
      count++;
      if (pending.length >= SEGMENT_BYTES) flush();
    }
    flush();
  }

  /** Every member of the last row, and those that are given. */
  #newRow(cells: RowCells, index: number, style: RowStyle): string {
    const positions = new Set([...style.names.keys()]);
    for (const [position, cell] of cells) if (cell !== null) positions.add(position);
    const members = [...positions].map((position) => {
      const value = this.#json(cells.get(position) ?? null, position, '', { create: index });
      this.#cells.push({ position, before: undefined, after: this.#read(value, position) });
      const name = style.names.get(position) ?? JSON.stringify(this.#dialect.keys[position]);
      return name + style.colon + value;
    });
    return `{${style.open}${members.join(style.between)}${style.close}}`;
  }

  /** Of the old file's last row. */
  async #lastStyle(): Promise<{ style: RowStyle; separator: string }> {
    const { segments, bodyOffset } = this.#layout;
    let offset = segments.reduce((sum, { bytes }) => sum + bytes, bodyOffset);
    let first = segments.reduce((sum, { rows }) => sum + rows, 0);
    const { isList, lead, tail } = this.#dialect;
    for (const segment of segments.toReversed()) {
      offset -= segment.bytes;
      first -= segment.rows;
      if (segment.rows === 0) continue;
      const text = await this.#textOf(segment, offset);
      let [before, at] = [0, 0];
      let from = 0;
      for (let row = 0; row < segment.rows; row++) {
        before = at;
        from = this.#rowAt(text, at);
        at = this.#spans.scan(text, from);
        if (at < 0) throw changedFile();
      }
      const isOnly = first === 0 && segment.rows === 1;
      const separator = isOnly ? null : text.slice(before, from);
      const style = styleOf(text, this.#spans, this.#columns);
      if (separator !== null) return { style, separator };
      const leading = text.slice(0, from);
      return { style, separator: isList ? `,${leading}` : await this.#lineEnd(tail) };
    }
    const leading = await readBytes(this.#source, bodyOffset, lead);
    const style = {
      open: '',
      close: '',
      between: ',',
      colon: ':',
      names: new Map<number, string>(),
    };
    return { style, separator: isList ? `,${leading.toString()}` : await this.#lineEnd(tail) };
  }

  async #lineEnd(tail: number): Promise<string> {
    const end = await readBytes(this.#source, this.#source.size - tail, 2);
    return end.toString('latin1') === '\r\n' ? '\r\n' : '\n';
  }
}

function styleOf(text: string, spans: MemberSpans, columns: Columns): RowStyle {
  const names = new Map<number, string>();
  for (let member = 0; member < spans.count; member++) {
    const name = text.slice(spans.nameFrom(member) - 1, spans.nameTo(member) + 1);
    names.set(columns.position(text, spans, member), name);
  }
  if (spans.count === 0) return { open: '', close: '', between: ',', colon: ':', names };
  const last = spans.count - 1;
  const open = spaceBefore(text, spans.nameFrom(0) - 1);
  const colon = text.slice(spans.nameTo(last) + 1, spans.valueFrom(last));
  const end = spans.valueTo(last);
  const close = text.slice(end, skipSpace(text, end));
  // With one member, a line for each is known by the line before it; else a space as after the colon.
  const between =
    last > 0
      ? text.slice(spans.valueTo(last - 1), spans.nameFrom(last) - 1)
      : open.includes('\n')
        ? `,${open}`
        : colon.length > 1
          ? ', '
          : ',';
  return { open, close, between, colon, names };
}

function spaceBefore(text: string, to: number): string {
  let from = to;
  while (/[ \t\r\n]/.test(text[from - 1] ?? '')) from--;
  return text.slice(from, to);
}
