/**
 * Guesses the delimiter: of `,` `;` tab `|` the one with the most consistent column count over the
 * first 64 KiB, comma on a tie.
 *
 * Consistency is the share of rows with the most frequent number of columns; a candidate whose most
 * frequent number is one does not count. Candidates that split the header win over others, because
 * a decimal comma can be as regular as the delimiter but does not occur in the header.
 */
import { completeLength, decodeText, type Encoding } from './encoding.ts';
import { RowSpans } from './tokenizer.ts';

export type Delimiter = ',' | ';' | '\t' | '|';

/** In order of preference. */
export const DELIMITERS: readonly Delimiter[] = [',', ';', '\t', '|'];

export const SAMPLE_BYTES = 65_536;

/**
 * `bytes` are up to SAMPLE_BYTES from the header row, at `offset`; `isWhole`: the file ends with
 * them. A row cut off by the sample is ignored.
 */
export function guessDelimiter(
  bytes: Uint8Array,
  encoding: Encoding,
  offset: number,
  isWhole: boolean,
): Delimiter {
  const complete = isWhole ? bytes : bytes.subarray(0, completeLength(bytes, encoding));
  const text = decodeText(complete, encoding, offset);
  const spans = new RowSpans();
  let best: { delimiter: Delimiter; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    if (!text.includes(delimiter)) continue;
    const score = consistency(text, delimiter, isWhole, spans);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/**
 * 0 when the delimiter splits nothing; up to 1 for consistent rows; 1 more when the header is
 * split.
 */
function consistency(
  text: string,
  delimiter: Delimiter,
  isWhole: boolean,
  spans: RowSpans,
): number {
  const options = { delimiter: delimiter.charCodeAt(0), isFinal: isWhole, stopAt: text.length };
  spans.scan(text, 0, options);
  const rowsByWidth = new Map<number, number>();
  for (let row = 0; row < spans.count; row++) {
    const width = spans.width(row);
    rowsByWidth.set(width, (rowsByWidth.get(width) ?? 0) + 1);
  }
  let [width, rows] = [1, 0];
  for (const [candidate, count] of rowsByWidth) {
    if (count > rows || (count === rows && candidate < width)) [width, rows] = [candidate, count];
  }
  if (width === 1) return 0;
  return rows / spans.count + (spans.width(0) > 1 ? 1 : 0);
}
