/**
 * Edits a Parquet file: only pages with touched rows and columns are rewritten; everything else
 * keeps its bytes, and so its exact values of any type.
 *
 * New rows join the last row group while it is small, else form a new one. The footer keeps schema,
 * key-value metadata and everything else.
 */
import { changedFile, type FileSource } from '../../src/base/files/file-source.ts';
import { PieceList } from '../../src/base/files/piece-list.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import { segmentsAfter } from '../../src/tables/edit/segments-after.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { fileEnd } from '../../src/tables/parquet/description.ts';
import { FileField, GroupField, MAGIC, Repetition } from '../../src/tables/parquet/format.ts';
import { structList, ThriftType } from '../../src/tables/parquet/thrift.ts';
import type { Cell, EditPlan, TableChanges, TableLayout } from '../../src/tables/types.ts';
import { type ParquetFile, readFooter, type RowGroup } from './footer.ts';
import {
  addGroup,
  editGroup,
  type GroupChanges,
  moveIndexes,
  type NewGroup,
} from './group-edit.ts';
import { physicalValue, type TargetColumn } from './physical-value.ts';
import { SEGMENT_ROWS } from './reader.ts';
import { columnType } from './schema.ts';

/** Maximum rows of a last group that takes new rows, and of new groups. */
const GROUP_ROWS = 65_536;

type RowCells = ReadonlyMap<number, Cell>;

/**
 * Throws `unreadable-file` with the reason why the change cannot be written, `schema-mismatch` for
 * cells their columns cannot hold, `conflict` when the file is not the layout's. Memory and time
 * grow with the changed chunks, not with the file.
 */
export async function editParquet(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  const file = await readFooter(source);
  const rows = layout.segments.reduce((sum, segment) => sum + segment.rows, 0);
  const touched = [...changes.updates.keys(), ...changes.deletes];
  if (rows !== file.rows || touched.some((row) => row >= rows)) throw changedFile();
  const edit = new FileEdit(source, file, changes);
  const pieces = await edit.run();
  const segments = segmentsAfter(layout.segments, changes, SEGMENT_ROWS);
  // Types come from the schema, so no cells are counted.
  return { pieces, layout: { dialect: {}, bodyOffset: 0, segments }, cells: [] };
}

class FileEdit {
  readonly #source: FileSource;
  readonly #old: ParquetFile;
  readonly #changes: TableChanges;
  readonly #columns: readonly TargetColumn[];
  /** Column position by leaf. */
  readonly #positions: readonly number[];
  readonly #file = new PieceList();
  readonly #groups: NewGroup[] = [];

  constructor(source: FileSource, old: ParquetFile, changes: TableChanges) {
    this.#source = source;
    this.#old = old;
    this.#changes = changes;
    const { fields, leaves } = old.schema;
    const names = cleanNames(fields.map(({ name }) => name));
    this.#columns = fields.map((field, position) => ({
      name: names[position]!,
      leaf: { ...leaves[field.firstLeaf]!, type: columnType(field) },
      isRequired: field.repetition !== Repetition.optional,
    }));
    this.#positions = fields.flatMap(({ leafCount }, position) =>
      new Array<number>(leafCount).fill(position),
    );
  }

  async run(): Promise<readonly Piece[]> {
    this.#file.add({ from: 0, to: MAGIC.length });
    const created = this.#changes.creates.map((cells) => this.#values(cells, this.#columns.keys()));
    const last = this.#old.groups.at(-1);
    const joined = last && last.rows > 0 && last.rows + created.length <= GROUP_ROWS;
    let first = 0;
    for (const group of this.#old.groups) {
      await this.#group(group, first, joined && group === last ? created : []);
      first += group.rows;
    }
    if (!joined) this.#addGroups(created);
    await moveIndexes(this.#source, this.#file, this.#groups);
    this.#writeFooter();
    return this.#file.pieces;
  }

  async #group(group: RowGroup, first: number, created: readonly NewRow[]): Promise<void> {
    const isWithin = (row: number): boolean => row >= first && row < first + group.rows;
    const deleted = [...this.#changes.deletes].filter(isWithin).map((row) => row - first);
    const updates: ColumnUpdates = new Map();
    for (const [row, cells] of this.#changes.updates) {
      if (!isWithin(row)) continue;
      for (const [position, value] of this.#values(cells, cells.keys())) {
        const own = updates.get(position);
        if (own) own.set(row - first, value);
        else updates.set(position, new Map([[row - first, value]]));
      }
    }
    const rows = group.rows - deleted.length + created.length;
    if (rows === 0) return;
    const changesOf = this.#changesOf(updates, new Set(deleted), created);
    this.#groups.push(await editGroup(this.#source, this.#file, group, rows, changesOf));
  }

  #addGroups(created: readonly NewRow[]): void {
    for (let from = 0; from < created.length; from += GROUP_ROWS) {
      const rows = created.slice(from, from + GROUP_ROWS);
      const changesOf = this.#changesOf(new Map(), new Set(), rows);
      const model = this.#old.groups.at(-1) ?? null;
      const { leaves } = this.#old.schema;
      this.#groups.push(addGroup(this.#file, leaves, rows.length, model, changesOf));
    }
  }

  #values(cells: RowCells, positions: Iterable<number>): NewRow {
    const values = new Map<number, Uint8Array | null>();
    for (const position of positions) {
      const column = this.#columns[position];
      if (!column) throw changedFile();
      values.set(position, physicalValue(cells.get(position) ?? null, column));
    }
    return values;
  }

  #changesOf(
    updates: ColumnUpdates,
    deletes: ReadonlySet<number>,
    created: readonly NewRow[],
  ): GroupChanges {
    return (leaf) => {
      const position = this.#positions[leaf]!;
      const appended = created.map((values) => values.get(position) ?? null);
      return { updates: updates.get(position) ?? new Map(), deletes, appended };
    };
  }

  #writeFooter(): void {
    const rows = this.#groups.reduce((sum, group) => sum + group.rows, 0);
    const groups = this.#groups.map(({ struct }, ordinal) =>
      struct.get(GroupField.ordinal) === null
        ? struct
        : struct.set(GroupField.ordinal, ThriftType.i16, ordinal),
    );
    const footer = this.#old.footer
      .copy()
      .set(FileField.rows, ThriftType.i64, rows)
      .set(FileField.rowGroups, ThriftType.list, structList(groups));
    this.#file.add(fileEnd(footer));
  }
}

/** By column position. */
type NewRow = ReadonlyMap<number, Uint8Array | null>;

/** By column position, by row of the group. */
type ColumnUpdates = Map<number, Map<number, Uint8Array | null>>;
