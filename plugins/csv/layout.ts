/** Encoding and start of the header, where nobody says them. */
import { DELIMITERS } from '../../src/tables/infer/companion.ts';
import { isUtf8 } from 'node:buffer';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { headerIndex, MAX_ROWS_LOOKED_AT } from '../../src/tables/infer/header-row.ts';
import type { ReadOptions } from '../../src/tables/types.ts';
import { cellValue } from './cell-value.ts';
import {
  consistency,
  type Delimiter,
  DELIMITER_OF,
  guessDelimiter,
  type GuessedMember,
} from './dialect.ts';
import { completeLength, decodeText, type Encoding, markedEncoding } from './encoding.ts';
import { guessEncoding } from './encoding-guess.ts';
import { RowSpans } from './tokenizer.ts';

export interface Layout {
  readonly encoding: Encoding;
  /** Of the byte order mark. */
  readonly bom: number;
  /** Above the header; blank ones after them are not counted. */
  readonly skippedLines: number;
  /** Absent: to be guessed from the header on. */
  readonly delimiter?: Delimiter;
  readonly guessed: readonly GuessedMember[];
}

const SAMPLE_BYTES = 65_536;

interface Sample {
  readonly text: string;
  /** The file ends with it. */
  readonly isWhole: boolean;
}

/** Up to 64 KiB of text from a byte offset on. */
export async function readSample(
  source: FileSource,
  encoding: Encoding,
  offset: number,
): Promise<Sample> {
  const bytes = await readBytes(source, offset, SAMPLE_BYTES);
  const isWhole = offset + bytes.length >= source.size;
  const complete = isWhole ? bytes : bytes.subarray(0, completeLength(bytes, encoding));
  return { text: decodeText(complete, encoding, offset), isWhole };
}

/** Throws `unreadable-file` as `decodeText`. */
export async function findLayout(source: FileSource, options: ReadOptions): Promise<Layout> {
  const guessed: GuessedMember[] = [];
  const marked = markedEncoding(await readBytes(source, 0, 3));
  let encoding = marked?.encoding ?? options.encoding;
  if (encoding === undefined) {
    encoding = options.learned?.encoding ?? (await supposedEncoding(source));
    guessed.push('encoding');
  }
  const bom = marked?.bom ?? 0;
  const sample = await readSample(source, encoding, bom);
  const declared = SEPARATOR_LINE.exec(sample.text);
  const named = DELIMITER_OF.get(options.extension ?? '');
  const delimiter = options.delimiter ?? (declared?.[1] as Delimiter | undefined) ?? named;
  if (delimiter === undefined) guessed.push('delimiter');
  const known = { encoding, bom, guessed, ...(delimiter && { delimiter }) };
  if (options.headerRow !== undefined) return { ...known, skippedLines: options.headerRow - 1 };
  if (declared !== null) return { ...known, skippedLines: 1 };
  guessed.push('header_row');
  return { ...known, ...headerBelowTitles(sample, delimiter) };
}

/** UTF-8 unless the sample contradicts; then by the whole file. */
async function supposedEncoding(source: FileSource): Promise<Encoding> {
  const bytes = await readBytes(source, 0, SAMPLE_BYTES);
  const isWhole = bytes.length >= source.size;
  const complete = isWhole ? bytes : bytes.subarray(0, completeLength(bytes, 'utf-8'));
  if (isUtf8(complete) && !bytes.includes(0)) return 'utf-8';
  return (await guessEncoding(source)).encoding;
}

/** Tells Excel the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?(?:\r\n|\n|\r|$)/i;

interface Start {
  readonly delimiter: Delimiter;
  /** Of the header in the sample. */
  readonly position: number;
  readonly isFirst: boolean;
  /** How well the rows from there on fit together. */
  readonly score: number;
}

/** Titles may be split by another delimiter than the table, so each is tried. */
function headerBelowTitles(
  sample: Sample,
  declared: Delimiter | undefined,
): Pick<Layout, 'skippedLines' | 'delimiter'> {
  const delimiters = declared === undefined ? DELIMITERS : [declared];
  const starts = delimiters.map((delimiter) => startOf(sample, delimiter));
  const usual = declared ?? guessDelimiter(sample);
  const plain = starts.find(({ delimiter }) => delimiter === usual)!;
  const better = starts
    .filter(({ isFirst, score }) => !isFirst && score > plain.score)
    .sort((a, b) => b.score - a.score);
  const start = plain.isFirst ? better[0] : plain;
  if (start === undefined) return { skippedLines: 0 };
  const above = sample.text.slice(0, start.position);
  return { skippedLines: above.match(/\r\n|\n|\r/g)!.length, delimiter: start.delimiter };
}

function startOf({ text, isWhole }: Sample, delimiter: Delimiter): Start {
  const spans = new RowSpans();
  spans.scan(text, 0, {
    delimiter: delimiter.charCodeAt(0),
    isFinal: isWhole,
    stopAt: text.length,
  });
  const rows: string[][] = [];
  const positions: number[] = [];
  for (let row = 0; row < spans.count && rows.length < MAX_ROWS_LOOKED_AT; row++) {
    const isParted = row > 0 && spans.start(row) > spans.end(row - 1);
    if (isParted) {
      rows.push([]);
      positions.push(spans.end(row - 1));
    }
    rows.push(spans.spellings(text, row).map(cellValue));
    positions.push(spans.start(row));
  }
  const index = headerIndex(rows);
  const isFirst = index <= 0;
  const position = isFirst ? (positions[0] ?? 0) : positions[index]!;
  const score = consistency({ text: text.slice(position), isWhole }, delimiter);
  return { delimiter, position, isFirst, score };
}
