/**
 * The objects of a list or of a file of lines, streamed in segments of about 32 KiB with exact byte counts.
 *
 * Every row owns the separator before it. Memory: one chunk of the file plus its longest row.
 */
import { unreadable } from '../../src/base/errors.ts';
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import { completeUtf8, strictText } from '../../src/base/text/text-bytes.ts';
import type { Segment } from '../../src/tables/types.ts';
import { JsonFault, MemberSpans, skipSpace } from './scan.ts';

/** Target of a segment, which an edit of one row has to read and scan again. */
export const SEGMENT_BYTES = 32_768;
/** A row is held in memory; a longer one is a damaged file. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 262_144;

/** Where the rows stand, in bytes of the file. */
export interface RowPlace {
  /** After a byte order mark or the opening bracket. */
  readonly from: number;
  /** Separated by commas, ended by a bracket; else by white space, ended by the file. */
  readonly isList: boolean;
}

/** Called for every row; the spans are valid only during the call. */
export type OnRow = (text: string, spans: MemberSpans) => void;

export class RowStream {
  readonly #source: FileSource;
  readonly #isList: boolean;
  readonly #spans = new MemberSpans();
  #text = '';
  #position = 0;
  /** In the file, of `#position`. */
  #offset: number;
  /** In the file, of the text's end. */
  #textEnd: number;
  /** All characters take one byte. */
  #isPlain = true;
  #isFirst = true;
  /** Separator before the first row, in bytes; what follows the last row begins at `end`. */
  lead = 0;

  constructor(source: FileSource, { from, isList }: RowPlace) {
    this.#source = source;
    this.#isList = isList;
    this.#offset = this.#textEnd = from;
  }

  /** After the last row of the segments so far. */
  get end(): number {
    return this.#offset;
  }

  /** The next rows; null after the last one. Throws `unreadable-file` with the byte offset. */
  async segment(onRow: OnRow): Promise<Segment | null> {
    let [rows, bytes, at] = [0, 0, this.#position];
    while (bytes < SEGMENT_BYTES) {
      const end = this.#row(at, onRow);
      if (end === null) break;
      if (end > 0) {
        bytes += this.#bytes(at, end);
        rows++;
        at = end;
        continue;
      }
      if (rows > 0) break;
      await this.#fill();
      at = 0;
    }
    this.#position = at;
    this.#offset += bytes;
    return rows === 0 ? null : { rows, bytes };
  }

  /** After the row and its separator; null when there is none; -1 when the text is too short. */
  #row(from: number, onRow: OnRow): number | null {
    const text = this.#text;
    const isFinal = this.#textEnd >= this.#source.size;
    try {
      let at = skipSpace(text, from);
      const isSeparated = this.#isList && !this.#isFirst && text[at] === ',';
      if (isSeparated) at = skipSpace(text, at + 1);
      if (at >= text.length) {
        if (!isFinal) return -1;
        if (this.#isList) throw new JsonFault('the list is not closed', text.length);
        return null;
      }
      if (this.#isList && !isSeparated && text[at] === ']') return null;
      if (this.#isList && !isSeparated && !this.#isFirst)
        throw new JsonFault('a comma is missing', at);
      if (text[at] !== '{') throw new JsonFault('a row that is no object', at);
      const end = this.#spans.scan(text, at);
      if (end < 0) {
        if (isFinal) throw new JsonFault('a row that does not end', at);
        return -1;
      }
      onRow(text, this.#spans);
      if (this.#isFirst) this.lead = this.#bytes(from, at);
      this.#isFirst = false;
      return end;
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      throw unreadable(`${error.message} at byte offset ${this.#offsetOf(error.at)}`);
    }
  }

  #offsetOf(position: number): number {
    // The rows of the present segment are not counted yet, so from the end of the text.
    return this.#textEnd - this.#bytes(position, this.#text.length);
  }

  #bytes(from: number, to: number): number {
    return this.#isPlain ? to - from : Buffer.byteLength(this.#text.slice(from, to));
  }

  /** Reads on; twice as much each time a row does not fit. */
  async #fill(): Promise<void> {
    const rest = this.#text.slice(this.#position);
    if (rest.length > MAX_ROW_BYTES) {
      throw unreadable(
        `more than ${MAX_ROW_BYTES} bytes in the row at byte offset ${this.#offset}`,
      );
    }
    const bytes = await readBytes(this.#source, this.#textEnd, Math.max(CHUNK_BYTES, rest.length));
    const isLast = this.#textEnd + bytes.length >= this.#source.size;
    const whole = isLast ? bytes : bytes.subarray(0, completeUtf8(bytes));
    const text = strictText(whole, 'utf-8', this.#textEnd);
    this.#isPlain = (this.#isPlain || rest === '') && text.length === whole.length;
    this.#text = rest + text;
    this.#position = 0;
    this.#textEnd += whole.length;
  }
}
