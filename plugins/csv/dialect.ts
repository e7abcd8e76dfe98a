/**
 * How a CSV file is written: encoding, delimiter, line endings, boolean spelling. Learned while
 * reading, stored with the typed copy, followed by every edit.
 */
import type { Delimiter } from './delimiter.ts';
import type { SpellingCounts } from './boolean-spelling.ts';
import type { Encoding } from './encoding.ts';
import type { LineEndings } from './tokenizer.ts';

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
