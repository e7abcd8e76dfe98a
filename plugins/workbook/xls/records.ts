/**
 * The records of a legacy workbook stream (MS-XLS, 2.1.4): type, length, and content that may continue in CONTINUE
 * records. Texts are in a code page up to Excel 95; later two bytes per character, or one where the upper one is zero
 * (2.5.293, 2.5.294).
 */
import { unreadable } from '../../../src/base/errors.ts';

/** Record types read; all others are skipped. */
export const RecordType = {
  formula: 0x0006,
  end: 0x000a,
  date1904: 0x0022,
  encrypted: 0x002f,
  continued: 0x003c,
  codePage: 0x0042,
  sheet: 0x0085,
  numbers: 0x00bd,
  richLabel: 0x00d6,
  cellFormat: 0x00e0,
  sharedStrings: 0x00fc,
  sharedLabel: 0x00fd,
  dimensions: 0x0200,
  number: 0x0203,
  label: 0x0204,
  booleanOrError: 0x0205,
  text: 0x0207,
  compactNumber: 0x027e,
  numberFormat: 0x041e,
  begin: 0x0809,
} as const;

const HEADER_BYTES = 4;

export interface BiffRecord {
  readonly type: number;
  /** Content of the record and of each continuation; at least one. */
  readonly parts: readonly Buffer[];
}

/**
 * From the BEGIN record to its END, both excluded, without nested substreams (charts). Throws `unreadable-file` when
 * truncated or not a substream.
 */
export function* substream(stream: Buffer, offset: number): Generator<BiffRecord> {
  let depth = 0;
  for (let at = offset; ;) {
    const record = recordAt(stream, at);
    if (at === offset && record.type !== RecordType.begin) {
      throw unreadable('a sheet does not begin where it should');
    }
    at = record.end;
    if (record.type === RecordType.end && --depth === 0) return;
    if (record.type === RecordType.begin) depth++;
    else if (depth === 1) yield record;
  }
}

function recordAt(stream: Buffer, at: number): BiffRecord & { readonly end: number } {
  const type = at + HEADER_BYTES <= stream.length ? stream.readUInt16LE(at) : RecordType.end;
  const parts: Buffer[] = [];
  let here = at;
  do {
    const from = here + HEADER_BYTES;
    const to = from <= stream.length ? from + stream.readUInt16LE(here + 2) : Infinity;
    if (to > stream.length) throw unreadable(`it is cut off in the record at byte ${here}`);
    parts.push(stream.subarray(from, to));
    here = to;
  } while (
    here + HEADER_BYTES <= stream.length &&
    stream.readUInt16LE(here) === RecordType.continued
  );
  return { type, parts, end: here };
}

export function content(record: BiffRecord, length: number): Buffer {
  const [part] = record.parts;
  if (!part || part.length < length) throw unreadable('a record is too short');
  return part;
}

const IS_WIDE = 0x01;
const HAS_PHONETIC = 0x04;
const HAS_RUNS = 0x08;

/** Reads across the parts of a record. Throws `unreadable-file` past the last one. */
export class BiffText {
  readonly #parts: readonly Buffer[];
  #part = 0;
  #at: number;

  constructor(record: BiffRecord, at: number) {
    this.#parts = record.parts;
    this.#at = at;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  word(): number {
    return this.byte() + this.byte() * 0x100;
  }

  long(): number {
    return this.word() + this.word() * 0x10000;
  }

  narrow(bytes: number, decoder: TextDecoder): string {
    const parts: Buffer[] = [];
    for (let left = bytes; left > 0; left -= parts.at(-1)!.length) parts.push(this.#take(left));
    return decoder.decode(Buffer.concat(parts));
  }

  /** Flags, then so many characters, then formatting data. */
  wide(characters: number): string {
    let flags = this.byte();
    const runs = (flags & HAS_RUNS) === 0 ? 0 : this.word();
    const phonetic = (flags & HAS_PHONETIC) === 0 ? 0 : this.long();
    let text = '';
    for (let left = characters; left > 0;) {
      // Characters continued in the next part have flags of their own.
      if (this.#isAtPartEnd()) flags = this.byte();
      const size = (flags & IS_WIDE) === 0 ? 1 : 2;
      const bytes = this.#take(left * size);
      if (bytes.length % size !== 0) throw unreadable('a text is cut off within a character');
      text += bytes.toString(size === 1 ? 'latin1' : 'utf16le');
      left -= bytes.length / size;
    }
    this.#skip(runs * 4 + phonetic);
    return text.toWellFormed();
  }

  #skip(bytes: number): void {
    for (let left = bytes; left > 0;) left -= this.#take(left).length;
  }

  #isAtPartEnd(): boolean {
    return this.#at >= this.#parts[this.#part]!.length;
  }

  #take(length: number): Buffer {
    while (this.#isAtPartEnd()) {
      if (this.#part + 1 >= this.#parts.length) throw unreadable('a text is cut off');
      this.#part++;
      this.#at = 0;
    }
    const bytes = this.#parts[this.#part]!.subarray(this.#at, this.#at + length);
    this.#at += bytes.length;
    return bytes;
  }
}

/** Code pages of workbooks from before Unicode (Excel 5 and 95). */
const ENCODINGS: Readonly<Record<number, string>> = {
  367: 'windows-1252',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  1200: 'utf-16le',
  1250: 'windows-1250',
  1251: 'windows-1251',
  1252: 'windows-1252',
  1253: 'windows-1253',
  1254: 'windows-1254',
  1255: 'windows-1255',
  1256: 'windows-1256',
  1257: 'windows-1257',
  1258: 'windows-1258',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  // Written by Excel for Macintosh and Excel 2 to 4 for Windows.
  32768: 'macintosh',
  32769: 'windows-1252',
};

/** Throws `unreadable-file` for an unknown code page. */
export function codePageDecoder(codePage: number): TextDecoder {
  const encoding = ENCODINGS[codePage];
  if (encoding === undefined) throw unreadable(`its code page ${codePage} is not supported`);
  return new TextDecoder(encoding as Bun.Encoding);
}
