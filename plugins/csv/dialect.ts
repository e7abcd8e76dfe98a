/** Learned while reading, stored with the typed copy, followed by every edit. */
import { DELIMITERS } from '../../src/tables/infer/companion.ts';
import { SPREADSHEET_BOOLEANS } from '../../src/tables/infer/declared-type.ts';
import type { SourceNote } from '../../src/tables/types.ts';
import { type Encoding, unitBytes } from './encoding.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';
import type { TotalRow } from './total-row.ts';

/** Named as the options that would declare them. */
export type GuessedMember = 'encoding' | 'delimiter' | 'header_row' | 'total_row';

export interface Dialect {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  /** An edit must leave a file that gives the same guesses. */
  readonly guessed: readonly GuessedMember[];
  readonly headerOffset: number;
  /** The header's line in the file, from 1. */
  readonly headerRow: number;
  /** Lines given up to find the header; blank ones directly above it are not. */
  readonly skippedLines: number;
  readonly width: number;
  readonly lineEndings: Readonly<LineEndings>;
  readonly booleans: SpellingCounts;
  /** The last row of the file, which is none of the table. */
  readonly total: TotalRow | null;
  /** No option says whether there is one. */
  readonly mayHaveTotal: boolean;
  /** The last row of the table is called one. */
  readonly endsLikeTotal: boolean;
}

/** Null where nothing was guessed and all is usual. */
export function guessedSource(dialect: Dialect): SourceNote | null {
  const { encoding, delimiter, headerRow, skippedLines, guessed, total } = dialect;
  const isUsual = {
    encoding: encoding === 'utf-8',
    delimiter: true,
    header_row: skippedLines === 0,
    total_row: false,
  };
  if (total === null && guessed.every((member) => isUsual[member])) return null;
  const below = total && { total_row: { values: total.values } };
  return { encoding, delimiter, header_row: headerRow, ...below, guessed };
}

export type Delimiter = (typeof DELIMITERS)[number];

/** Named by the file's extension, so that a single column with commas is not split. */
export const DELIMITER_OF: ReadonlyMap<string, Delimiter> = new Map([
  ['.tsv', '\t'],
  ['.psv', '|'],
]);

interface TableText {
  readonly text: string;
  /** The file ends with it. */
  readonly isWhole: boolean;
}

/** The one with the most consistent column count, comma on a tie. The text begins with the header. */
export function guessDelimiter(start: TableText): Delimiter {
  const scores = DELIMITERS.map((delimiter) => consistency(start, delimiter));
  return DELIMITERS[scores.indexOf(Math.max(...scores))]!;
}

/**
 * The share of rows with the most frequent number of columns; 0 when that is one. One more when the header is split:
 * a decimal comma can be as regular as the delimiter but does not occur in the header.
 */
export function consistency({ text, isWhole }: TableText, delimiter: Delimiter): number {
  if (!text.includes(delimiter)) return 0;
  const spans = new RowSpans();
  spans.scan(text, 0, {
    delimiter: delimiter.charCodeAt(0),
    isFinal: isWhole,
    stopAt: text.length,
  });
  const rowsByWidth = new Map<number, number>();
  for (let row = 0; row < spans.count; row++) {
    const width = spans.width(row);
    rowsByWidth.set(width, (rowsByWidth.get(width) ?? 0) + 1);
  }
  let [width, rows] = [1, 0];
  for (const [candidate, count] of rowsByWidth) {
    if (count > rows || (count === rows && candidate < width)) [width, rows] = [candidate, count];
  }
  return width === 1 ? 0 : rows / spans.count + (spans.width(0) > 1 ? 1 : 0);
}

export type LineEnding = '\n' | '\r\n' | '\r';

/** On a tie LF before CRLF before CR. */
export function prevailingEnding({ lf, crlf, cr }: Readonly<LineEndings>): LineEnding {
  if (lf >= crlf && lf >= cr) return '\n';
  return crlf >= cr ? '\r\n' : '\r';
}

/** `step` -1 takes it back. */
export function countEnding(endings: LineEndings, ending: LineEnding | '', step: 1 | -1): void {
  if (ending !== '') endings[ending === '\n' ? 'lf' : ending === '\r' ? 'cr' : 'crlf'] += step;
}

/** `tail` must be whole units, at least the last two; '' for none. */
export function lineEndingOf(tail: Buffer, encoding: Encoding): LineEnding | '' {
  const bytes = encoding === 'utf-16be' ? Buffer.from(tail).swap16() : tail;
  const text = bytes.toString(unitBytes(encoding) === 1 ? 'latin1' : 'utf16le');
  return (/(?:\r\n|\n|\r)$/.exec(text)?.[0] ?? '') as LineEnding | '';
}

const SPELLINGS: readonly (readonly [string, string])[] = [
  ['true', 'false'],
  ['True', 'False'],
  ['TRUE', 'FALSE'],
  ...SPREADSHEET_BOOLEANS,
];
/** Some words are in several. */
const PAIRS = new Map(
  SPELLINGS.flat().map((word) => [
    word,
    [...SPELLINGS.keys()].filter((index) => SPELLINGS[index]!.includes(word)),
  ]),
);
/** By character code: 1 where a word or the space before one begins so; 2: a word in capitals alone. */
const BEGINNINGS = new Uint8Array(128);
for (const word of PAIRS.keys()) BEGINNINGS[word.charCodeAt(0)] = 2;
for (const letter of ' \ttTfF') BEGINNINGS[letter.charCodeAt(0)] = 1;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
/** Characters of the longest word. */
export const MAX_BOOLEAN_LENGTH = Math.max(...SPELLINGS.flat().map(({ length }) => length));

type SpellingCounts = Record<string, readonly number[]>;

/** How each column spells its booleans, counted over the whole file; only `SPELLINGS` count. */
export class BooleanSpelling {
  readonly #counts = new Map<number, number[]>();

  constructor(counts: SpellingCounts = {}) {
    for (const [position, entry] of Object.entries(counts)) {
      this.#counts.set(Number(position), [...entry]);
    }
  }

  /** `step` -1 takes a cell back; cheap for cells that are no booleans. */
  count(position: number, cell: string, step: 1 | -1 = 1): void {
    const beginning = BEGINNINGS[cell.charCodeAt(0)] ?? 0;
    if (beginning === 0) return;
    if (beginning === 2) {
      // Few texts are in capitals.
      const second = cell.charCodeAt(1);
      if (second < UPPER_A || second > UPPER_Z) return;
    }
    const pairs = PAIRS.get(cell.trim());
    if (pairs === undefined) return;
    let entry = this.#counts.get(position);
    if (!entry) this.#counts.set(position, (entry = SPELLINGS.map(() => 0)));
    for (const pair of pairs) entry[pair]! += step;
  }

  spell(position: number, value: boolean): string {
    const entry = this.#counts.get(position) ?? [0];
    return SPELLINGS[entry.indexOf(Math.max(...entry))]![value ? 0 : 1]!;
  }

  toJSON(): SpellingCounts {
    const used = [...this.#counts].filter(([, entry]) => entry.some((count) => count > 0));
    return Object.fromEntries(used);
  }
}
