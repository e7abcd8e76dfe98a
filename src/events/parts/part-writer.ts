/** Writes a part: beside its place, synced, then under a name nothing had before. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placeNew } from '../../base/files/file-swap.ts';
import { Codec } from '../../tables/parquet/codec.ts';
import {
  type ColumnValues,
  IntegerValues,
  LongValues,
  TextValues,
} from '../../tables/parquet/column-values.ts';
import { ColumnWriter } from '../../tables/parquet/column-writer.ts';
import {
  Converted,
  Logical,
  MAGIC,
  Physical,
  Repetition,
  SchemaField,
} from '../../tables/parquet/format.ts';
import { annotated, type OutputColumn, ParquetOutput } from '../../tables/parquet/output.ts';
import { ThriftStruct, ThriftType } from '../../tables/parquet/thrift.ts';
import { eachMember, withFieldColumns } from './field-columns.ts';
import {
  dayOf,
  FIELD_PREFIX,
  FILTER_BLOCK,
  filterBlocks,
  folderOf,
  GROUPS_KEY,
  PART_COLUMNS,
  PARTS_FOLDER,
  TextFilter,
} from './part-format.ts';
import type { GroupFacts, SealedRow } from './part-format.ts';

/** A group also ends at so many characters: readers hold a few of them in memory. */
const GROUP_CHARACTERS = 8 * 1024 * 1024;
const STYLE = { codec: Codec.zstd, version: 1, hasChecksum: true } as const;

/** As the manifest has it. */
export interface NewPart {
  /** Below the folder of parts. */
  readonly file: string;
  readonly index: string;
  readonly rows: number;
  readonly bytes: number;
  readonly fileBytes: number;
  /** SHA-256 of the file, and of its footer. */
  readonly hash: string;
  readonly footerHash: string;
  readonly minId: number;
  readonly maxId: number;
  readonly minTime: number;
  readonly maxTime: number;
  readonly minCreated: number;
  readonly maxCreated: number;
}

interface WrittenColumn extends OutputColumn {
  readonly add: (row: SealedRow) => void;
}

/**
 * `rows` are of one index, in the order of time and id, and at least one. `number`: the first to try in the name.
 * Throws what the disk throws; nothing is left then.
 */
export function writePart(
  stateDir: string,
  rows: Iterable<SealedRow>,
  { number, groupRows }: { readonly number: number; readonly groupRows: number },
): NewPart {
  const folder = join(stateDir, PARTS_FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${process.pid}-${number}.part`);
  const fd = openSync(draft, 'w', 0o600);
  let isOpen = true;
  try {
    const written = writeRows(fd, rows, groupRows);
    fsyncSync(fd);
    closeSync(fd);
    isOpen = false;
    const file = publish(folder, draft, written, number);
    return { ...written, file };
  } catch (error) {
    if (isOpen) closeSync(fd);
    rmSync(draft, { force: true });
    throw error;
  }
}

function publish(
  folder: string,
  draft: string,
  { index, minTime }: Pick<NewPart, 'index' | 'minTime'>,
  number: number,
): string {
  const own = folderOf(index);
  mkdirSync(join(folder, own), { recursive: true, mode: 0o700 });
  for (let tried = number; ; tried++) {
    const file = `${own}/${dayOf(minTime)}-${tried}.parquet`;
    // What has the name may belong to an order that is still under way.
    if (!placeNew(draft, join(folder, file))) continue;
    for (const path of [join(folder, own), folder, dirname(folder)]) syncFolder(path);
    return file;
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeRows(
  fd: number,
  rows: Iterable<SealedRow>,
  groupRows: number,
): Omit<NewPart, 'file'> {
  const { names, rows: all } = withFieldColumns(rows);
  const fields = new FieldCells(names);
  const columns = [...columnsOf(), ...fields.columns];
  const output = new ParquetOutput(columns, STYLE.codec);
  const hash = createHash('sha256');
  let fileBytes = 0;
  const put = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    hash.update(bytes);
    fileBytes += bytes.length;
  };
  const filter = new TextFilter();
  const groups: GroupFacts[] = [];
  const bounds = new Bounds();
  let group = new Bounds();
  const finish = (): void => {
    const bits = filter.take();
    const blocks = filterBlocks(bits, FILTER_BLOCK);
    const at = output.place(blocks);
    put(blocks);
    const { rows: count, minId, maxId, minTime, maxTime, ascii } = group;
    const facts = { rows: count, minId, maxId, minTime, maxTime, ascii, fields: fields.take() };
    groups.push({ ...facts, filter: { at, size: bits.length, crc: 0, block: FILTER_BLOCK } });
    for (const piece of output.group(count)) put(piece);
    group = new Bounds();
  };
  put(MAGIC);
  for (const row of all) {
    fields.read(row.fields);
    for (const column of columns) column.add(row);
    filter.add(row.data);
    if (row.fields !== row.data) filter.add(row.fields);
    for (const text of [row.sourcetype, row.source, row.host]) filter.add(text);
    if (group.rows === 0) filter.add(row.index);
    group.add(row);
    bounds.add(row);
    if (group.rows >= groupRows || group.characters >= GROUP_CHARACTERS) finish();
  }
  if (group.rows > 0) finish();
  const footer = output.footer([[GROUPS_KEY, JSON.stringify(groups)]]);
  put(footer);
  const {
    index,
    rows: count,
    bytes,
    minId,
    maxId,
    minTime,
    maxTime,
    minCreated,
    maxCreated,
  } = bounds;
  return {
    index,
    rows: count,
    bytes,
    fileBytes,
    hash: hash.digest('hex'),
    footerHash: createHash('sha256').update(footer).digest('hex'),
    minId,
    maxId,
    minTime,
    maxTime,
    minCreated,
    maxCreated,
  };
}

class Bounds {
  index = '';
  rows = 0;
  bytes = 0;
  characters = 0;
  minId = Infinity;
  maxId = -Infinity;
  minTime = Infinity;
  maxTime = -Infinity;
  minCreated = Infinity;
  maxCreated = -Infinity;
  ascii = true;

  add({ id, time, created, index, data, fields, bytes, ascii }: SealedRow): void {
    this.index = index;
    this.rows++;
    this.bytes += bytes;
    this.characters += data.length + fields.length;
    this.minId = Math.min(this.minId, id);
    this.maxId = Math.max(this.maxId, id);
    this.minTime = Math.min(this.minTime, time);
    this.maxTime = Math.max(this.maxTime, time);
    this.minCreated = Math.min(this.minCreated, created);
    this.maxCreated = Math.max(this.maxCreated, created);
    this.ascii &&= ascii === 1;
  }
}

/** Members of the fields of one row after the other. */
class FieldCells {
  readonly columns: readonly WrittenColumn[];
  readonly #names: readonly string[];
  readonly #values = new Map<string, string | null>();
  #isSound = true;

  constructor(names: readonly string[]) {
    this.#names = names;
    this.columns = names.map((name) => {
      const column = columnNamed(FIELD_PREFIX + name, 'json');
      return { ...column, add: () => column.leaves[0]!.writer.add(this.#values.get(name)!) };
    });
  }

  read(fields: string): void {
    for (const name of this.#names) this.#values.set(name, null);
    eachMember(fields, (name, value) => {
      const known = this.#values.get(name);
      // Of two members of a name SQL takes one.
      if (typeof known === 'string') this.#isSound = false;
      else if (known === null) this.#values.set(name, value);
    });
  }

  /** Of the rows since the last call; null when they had a name twice. */
  take(): readonly string[] | null {
    const isSound = this.#isSound;
    this.#isSound = true;
    return isSound ? this.#names : null;
  }
}

function columnNamed(name: string, kind: Kind): OutputColumn {
  const [physical, values, annotate] = typeOf(kind);
  const writer = new ColumnWriter(physical, values, { definition: 1, repetition: 0 }, STYLE);
  const element = new ThriftStruct()
    .set(SchemaField.type, ThriftType.i32, physical)
    .set(SchemaField.repetition, ThriftType.i32, Repetition.optional)
    .set(SchemaField.name, ThriftType.binary, new TextEncoder().encode(name));
  return { elements: [annotate(element)], leaves: [{ path: [name], writer }] };
}

function columnsOf(): WrittenColumn[] {
  return PART_COLUMNS.map(({ name, kind }) => {
    const column = columnNamed(name, kind);
    const [{ writer }] = column.leaves as [OutputColumn['leaves'][number]];
    const add = (row: SealedRow): void => {
      const value = name === 'fields' && row.fields === row.data ? null : row[name];
      // The writer takes numbers of 53 bits; times of far years have more.
      const isLarge = typeof value === 'number' && !Number.isSafeInteger(value);
      writer.add(isLarge ? BigInt(value) : value);
    };
    return { ...column, add };
  });
}

type Kind = (typeof PART_COLUMNS)[number]['kind'];
type Annotate = (element: ThriftStruct) => ThriftStruct;
const { struct } = ThriftType;

function typeOf(kind: Kind): [number, ColumnValues, Annotate] {
  switch (kind) {
    case 'long':
      return [Physical.int64, new LongValues(), (element) => element];
    case 'int':
      return [Physical.int32, new IntegerValues(), (element) => element];
    case 'time':
      return [Physical.int64, new LongValues(), inMicros];
    case 'json':
      return [
        Physical.bytes,
        new TextValues(),
        (element) => annotated(element, Logical.json, new ThriftStruct(), Converted.json),
      ];
    default:
      return [
        Physical.bytes,
        new TextValues(),
        (element) => annotated(element, Logical.string, new ThriftStruct(), Converted.utf8),
      ];
  }
}

/** In UTC. */
function inMicros(element: ThriftStruct): ThriftStruct {
  const unit = new ThriftStruct().set(2, struct, new ThriftStruct());
  const details = new ThriftStruct().set(1, ThriftType.true, true).set(2, struct, unit);
  return annotated(element, Logical.timestamp, details, Converted.timestampMicros);
}
