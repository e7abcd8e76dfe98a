/**
 * How a CSV file is written: encoding, delimiter, line endings, boolean spelling. Learned while
 * reading, stored with the typed copy, followed by every edit.
 */
import { completeLength, decodeText, type Encoding, unitBytes } from './encoding.ts';
import { type LineEndings, RowSpans } from './tokenizer.ts';

export interface Dialect {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  /** The delimiter was guessed, so an edit must leave a file with the same guess. */
  readonly isGuessed: boolean;
  readonly headerOffset: number;
  readonly width: number;
  readonly lineEndings: Readonly<LineEndings>;
  readonly booleans: SpellingCounts;
}

export type Delimiter = ',' | ';' | '\t' | '|';

/** In order of preference. */
export const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

export const SAMPLE_BYTES = 65_536;

/**
 * Of DELIMITERS the one with the most consistent column count over the first 64 KiB, comma on a
 * tie. `bytes` are up to SAMPLE_BYTES from the header row, at `offset`; `isWhole`: the file ends
 * with them. A row cut off by the sample is ignored.
 */
export function guessDelimiter(
  bytes: Uint8Array,
  encoding: Encoding,
  offset: number,
  isWhole: boolean,
): Delimiter {
  const complete = isWhole ? bytes : bytes.subarray(0, completeLength(bytes, encoding));
  const text = decodeText(complete, encoding, offset);
  const scores = DELIMITERS.map((delimiter) => consistency(text, delimiter, isWhole));
  return DELIMITERS[scores.indexOf(Math.max(...scores))]!;
}

/**
 * The share of rows with the most frequent number of columns; 0 when that number is one. One more
 * when the header is split: a decimal comma can be as regular as the delimiter but does not occur
 * in the header.
 */
function consistency(text: string, delimiter: Delimiter, isFinal: boolean): number {
  if (!text.includes(delimiter)) return 0;
  const spans = new RowSpans();
  spans.scan(text, 0, { delimiter: delimiter.charCodeAt(0), isFinal, stopAt: text.length });
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
];
const INDEX = new Map(
  SPELLINGS.flatMap((pair, index) => pair.map((word) => [word, index] as const)),
);
const LETTER_T = 0x74;
const LETTER_F = 0x66;

export type SpellingCounts = Record<string, readonly number[]>;

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
    const letter = cell.charCodeAt(0) | 0x20;
    if (letter !== LETTER_T && letter !== LETTER_F && letter !== 0x20) return;
    const index = INDEX.get(cell.trim());
    if (index === undefined) return;
    let entry = this.#counts.get(position);
    if (!entry) this.#counts.set(position, (entry = [0, 0, 0]));
    entry[index]! += step;
  }

  spell(position: number, value: boolean): string {
    const entry = this.#counts.get(position) ?? [0, 0, 0];
    return SPELLINGS[entry.indexOf(Math.max(...entry))]![value ? 0 : 1]!;
  }

  toJSON(): SpellingCounts {
    const used = [...this.#counts].filter(([, entry]) => entry.some((count) => count > 0));
    return Object.fromEntries(used);
  }
}
