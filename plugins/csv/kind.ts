import {
  COMPRESSED_IS_READ_ONLY,
  isCompressed,
  withCompressed,
} from '../../src/base/files/compressed-file.ts';
import type { Kind } from '../../src/docroot/kind.ts';
import { type Dialect, guessedSource } from './dialect.ts';
import { editCsv } from './editor.ts';
import { readCsv } from './reader.ts';
import { AppError } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import {
  FirstRows,
  type FilePreview,
  MAX_PREVIEW_ROWS,
  previewText,
} from '../../src/tables/infer/file-preview.ts';
import type { ReadOptions } from '../../src/tables/types.ts';
import { completeLength, decodeText, type Encoding, markedEncoding } from './encoding.ts';
import { guessEncoding } from './encoding-guess.ts';

export const csv: Kind = {
  type: 'csv',
  family: 'dataset',
  extensions: withCompressed(['.csv', '.tsv', '.psv']),
  dataset: {
    read: readCsv,
    edit: editCsv,
    readOnlyReason: (rel) => (isCompressed(rel) ? COMPRESSED_IS_READ_ONLY : null),
    preview: previewCsv,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
  },
};

const HEAD_BYTES = 65_536;

/** Reads 64 KiB; all of the file when its encoding has to be guessed. */
async function previewCsv(source: FileSource, options: ReadOptions): Promise<FilePreview> {
  const head = await readBytes(source, 0, HEAD_BYTES);
  const isWhole = head.length >= source.size;
  const marked = markedEncoding(head);
  const encoding = marked?.encoding ?? options.encoding ?? (await guessEncoding(source)).encoding;
  const bytes = isWhole ? head : head.subarray(0, endOfLines(head, encoding));
  const start: FileSource = {
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  };
  const sink = new FirstRows();
  let problem: string | null = null;
  try {
    await readCsv(start, { ...options, learned: { encoding } }, sink);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    problem = error.message;
  }
  const dialect = sink.dialect as Dialect | null;
  return {
    lines: legible(bytes.subarray(marked?.bom ?? 0), encoding)
      .replace(/(?:\r\n|\n|\r)$/, '')
      .split(/\r\n|\n|\r/, MAX_PREVIEW_ROWS)
      .map((line, index) => ({ number: index + 1, cells: [previewText(line)] })),
    found: dialect && {
      encoding,
      delimiter: dialect.delimiter,
      header_row: dialect.headerRow,
      guessed: dialect.guessed,
    },
    columns: sink.columns,
    rows: sink.rows,
    problem,
  };
}

function endOfLines(bytes: Buffer, encoding: Encoding): number {
  const complete = completeLength(bytes, encoding);
  const last = bytes.subarray(0, complete).lastIndexOf(0x0a) + 1;
  // In UTF-16 the line feed is one of two bytes.
  return last === 0 || encoding.startsWith('utf-16') ? complete : last;
}

/** With replacement characters where the bytes are no text in this encoding. */
function legible(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'utf-8' || encoding.startsWith('utf-16')) {
    return new TextDecoder(encoding as 'utf-8').decode(bytes);
  }
  return decodeText(
    bytes.map((byte) => (byte === 0 ? 0x20 : byte)),
    encoding,
    0,
  );
}
