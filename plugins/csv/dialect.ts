/**
 * How a CSV file is written: encoding, delimiter, line endings, spelling of booleans (DS-62, DS-86).
 *
 * Learned while reading, kept with the typed copy, followed by every edit. The delimiter is guessed from the first
 * 64 KiB after the rows above the header.
 */
import type { Delimiter } from './delimiter.ts';
import type { SpellingCounts } from './boolean-spelling.ts';
import type { Encoding } from './encoding.ts';
import type { LineEndings } from './tokenizer.ts';

/** The style of one file, as stored with its typed copy. */
export interface Dialect {
  readonly encoding: Encoding;
  readonly delimiter: Delimiter;
  /** The delimiter was guessed, so an edit must leave a file that is guessed the same way. */
  readonly isGuessed: boolean;
  /** First byte of the header row: after the byte order mark and the rows above. */
  readonly headerOffset: number;
  /** Cells of the header row; 0 when there is none. */
  readonly width: number;
  readonly lineEndings: Readonly<LineEndings>;
  readonly booleans: SpellingCounts;
}

/** The dialect stored in a layout this kind has made. */
export function storedDialect(layout: { readonly dialect: Record<string, unknown> }): Dialect {
  return layout.dialect as unknown as Dialect;
}

/** The form kept with the typed copy; plain JSON. */
export function dialectRecord(dialect: Dialect): Record<string, unknown> {
  return { ...dialect };
}
