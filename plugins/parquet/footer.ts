/**
 * The columns of each row group (parquet-format, README "File format"). Every size and offset is checked against the
 * file before a page is read.
 */
import { type AppError, unreadable } from '../../src/base/errors.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { supportedCodec } from '../../src/tables/parquet/codec.ts';
import {
  ChunkField,
  FileField,
  GroupField,
  MAGIC,
  MetaField,
} from '../../src/tables/parquet/format.ts';
import { readThrift, ThriftEnd, type ThriftStruct } from '../../src/tables/parquet/thrift.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { type Leaf, type Schema, schemaOf } from './schema.ts';

export interface Chunk {
  readonly leaf: Leaf;
  readonly struct: ThriftStruct;
  readonly meta: ThriftStruct;
  readonly codec: number;
  /** Nulls included; list items count each. */
  readonly values: number;
  readonly start: number;
  /** First byte after its pages. */
  readonly end: number;
}

export interface RowGroup {
  readonly struct: ThriftStruct;
  readonly rows: number;
  /** In the order of the schema's leaves. */
  readonly chunks: readonly Chunk[];
}

export interface ParquetFile {
  readonly footer: ThriftStruct;
  readonly schema: Schema;
  readonly groups: readonly RowGroup[];
  readonly rows: number;
}

const MAX_FOOTER_BYTES = 16 * 1024 * 1024;
/** Of all columns together. */
const MAX_VALUES = 50_000_000;
/** Magic at the start; footer size and magic at the end. */
const HEAD_BYTES = 4;
const TAIL_BYTES = 8;

/** Throws `unreadable-file` with the reason. */
export async function readFooter(source: FileSource): Promise<ParquetFile> {
  const footerStart = await locateFooter(source);
  const bytes = await readBytes(source, footerStart, source.size - TAIL_BYTES - footerStart);
  const footer = wholeThrift(bytes, 'a footer');
  if (footer.struct(FileField.encryption)) throw encrypted();
  const schema = schemaOf(footer.structs(FileField.schema));
  const groups = footer
    .structs(FileField.rowGroups)
    .map((struct) => rowGroup(struct, schema.leaves, footerStart));
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const total = footer.int(FileField.rows);
  if (total === null || footer.get(FileField.rowGroups) === null) throw damaged('no row groups');
  // Some writers leave the total at 0.
  if (total !== 0 && total !== rows) throw damaged('row groups of another number of rows');
  const values = groups.reduce(
    (sum, { chunks }) => chunks.reduce((total, chunk) => total + chunk.values, sum),
    0,
  );
  if (values > MAX_VALUES) throw unreadable(`more than ${MAX_VALUES} values`);
  return { footer, schema, groups, rows };
}

async function locateFooter(source: FileSource): Promise<number> {
  const { size } = source;
  if (size < HEAD_BYTES + TAIL_BYTES) throw unreadable('not a Parquet file');
  const head = await readBytes(source, 0, HEAD_BYTES);
  const tail = await readBytes(source, size - TAIL_BYTES, TAIL_BYTES);
  const magic = tail.subarray(4);
  if (new TextDecoder().decode(magic) === 'PARE') throw encrypted();
  if (!isMagic(head) || !isMagic(magic)) throw unreadable('not a Parquet file');
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  if (length > size - HEAD_BYTES - TAIL_BYTES) throw damaged('a footer larger than the file');
  if (length > MAX_FOOTER_BYTES) {
    throw unreadable(`a footer of more than ${MAX_FOOTER_BYTES} bytes`);
  }
  return size - TAIL_BYTES - length;
}

function isMagic(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

function rowGroup(struct: ThriftStruct, leaves: readonly Leaf[], dataEnd: number): RowGroup {
  const rows = struct.int(GroupField.rows) ?? -1;
  const columns = struct.structs(GroupField.columns);
  if (rows < 0) throw damaged('a negative number of rows');
  if (columns.length !== leaves.length) throw damaged('a row group with other columns');
  const chunks = columns.map((column, index) => chunkOf(column, leaves[index]!, rows, dataEnd));
  return { struct, rows, chunks };
}

function chunkOf(struct: ThriftStruct, leaf: Leaf, rows: number, dataEnd: number): Chunk {
  const { name } = leaf;
  if (struct.get(ChunkField.crypto) || struct.get(ChunkField.encryptedMeta)) throw encrypted();
  if (struct.bytes(ChunkField.filePath)?.length) {
    throw unreadable(`column '${name}' stands in another file`);
  }
  const meta = struct.struct(ChunkField.meta);
  const values = meta?.int(MetaField.values) ?? -1;
  if (!meta || meta.int(MetaField.type) !== leaf.physical)
    throw damaged(`column '${name}' is described wrongly`);
  // Lists may hold many values per row, but an empty one still has one entry.
  const isCounted = leaf.maxRepetition === 0 ? values === rows : values >= rows;
  if (!isCounted) throw damaged(`column '${name}' has another number of rows`);
  const codec = meta.int(MetaField.codec) ?? -1;
  supportedCodec(codec);
  // Without values there may be no page, and so no offset: pyarrow writes 0.
  if (values === 0) {
    return { leaf, struct, meta, codec, values, start: HEAD_BYTES, end: HEAD_BYTES };
  }
  const start = chunkStart(meta);
  const end = start + (meta.int(MetaField.compressedBytes) ?? -1);
  if (!(start >= HEAD_BYTES && end >= start && end <= dataEnd)) {
    throw damaged(`column '${name}' stands outside the file`);
  }
  return { leaf, struct, meta, codec, values, start, end };
}

/** Some writers omit the dictionary's offset, or write 0 where there is no page. */
function chunkStart(meta: ThriftStruct): number {
  const offsets = [meta.int(MetaField.dataOffset), meta.int(MetaField.dictionaryOffset)];
  return Math.min(...offsets.map((offset) => offset || Infinity));
}

function encrypted(): AppError {
  return unreadable('encrypted Parquet files are not supported');
}

/** Throws `unreadable-file` when the bytes end within it. */
export function wholeThrift(bytes: Uint8Array, name: string): ThriftStruct {
  try {
    return readThrift(bytes).value;
  } catch (error) {
    throw error instanceof ThriftEnd ? damaged(`${name} that ends early`) : error;
  }
}
