import { unreadable } from '../../../src/base/errors.ts';
import type { FileSource } from '../../../src/base/files/file-source.ts';
import { MAX_SHEETS } from '../limits.ts';
import { builtInKind, type DateKind, formatKind } from '../serial-date.ts';
import { CompoundFile } from './compound-file.ts';
import {
  type BiffRecord,
  BiffText,
  codePageDecoder,
  content,
  RecordType,
  substream,
} from './records.ts';

/** Excel 97 and later. */
const VERSION_8 = 0x0600;
const VERSION_5 = 0x0500;
const WORKSHEET = 0;
const DEFAULT_CODE_PAGE = 1252;

export async function openLegacyWorkbook(source: FileSource): Promise<LegacyWorkbook> {
  const file = await CompoundFile.open(source);
  if (file.stream('EncryptedPackage')) throw unreadable('it is encrypted');
  const stream = file.stream('Workbook') ?? file.stream('Book');
  if (stream === null) throw unreadable('it is no Excel workbook');
  return new LegacyWorkbook(stream);
}

/** What precedes the sheets of the stream. */
export class LegacyWorkbook {
  readonly stream: Buffer;
  readonly isUnicode: boolean;
  #decoder = codePageDecoder(DEFAULT_CODE_PAGE);
  /** In workbook order, without charts and macros. */
  readonly worksheets: {
    readonly name: string;
    readonly offset: number;
    readonly isHidden: boolean;
  }[] = [];
  strings: readonly string[] = [];
  /** By cell format. */
  readonly kinds: readonly DateKind[];
  is1904 = false;
  readonly #formats = new Map<number, DateKind>();
  readonly #cellFormats: number[] = [];

  constructor(stream: Buffer) {
    const version = stream.length >= 6 ? stream.readUInt16LE(4) : 0;
    if (version !== VERSION_8 && version !== VERSION_5) {
      throw unreadable('it is a workbook of an unsupported Excel version');
    }
    this.stream = stream;
    this.isUnicode = version === VERSION_8;
    for (const record of substream(stream, 0)) this.#take(record);
    if (this.worksheets.length === 0) throw unreadable('it has no worksheet');
    this.kinds = this.#cellFormats.map((id) => this.#formats.get(id) ?? builtInKind(id));
  }

  /** A text of so many characters, in older files bytes. */
  text(text: BiffText, length: number): string {
    return this.isUnicode ? text.wide(length) : text.narrow(length, this.#decoder);
  }

  #take(record: BiffRecord): void {
    switch (record.type) {
      case RecordType.encrypted:
        throw unreadable('it is encrypted');
      case RecordType.codePage:
        if (!this.isUnicode) this.#decoder = codePageDecoder(content(record, 2).readUInt16LE(0));
        return;
      case RecordType.date1904:
        this.is1904 = content(record, 2).readUInt16LE(0) === 1;
        return;
      case RecordType.sheet:
        return this.#takeSheet(record);
      case RecordType.numberFormat: {
        const id = content(record, 3).readUInt16LE(0);
        const text = new BiffText(record, 2);
        const length = this.isUnicode ? text.word() : text.byte();
        this.#formats.set(id, formatKind(this.text(text, length)));
        return;
      }
      case RecordType.cellFormat:
        this.#cellFormats.push(content(record, 4).readUInt16LE(2));
        return;
      case RecordType.sharedStrings:
        this.strings = sharedStrings(record);
        return;
      default:
    }
  }

  #takeSheet(record: BiffRecord): void {
    const bytes = content(record, 7);
    if (bytes[5] !== WORKSHEET) return;
    const name = this.text(new BiffText(record, 7), bytes[6]!);
    if (this.worksheets.some((sheet) => sheet.name === name)) {
      throw unreadable(`it has two worksheets named ${JSON.stringify(name)}`);
    }
    if (this.worksheets.length === MAX_SHEETS) {
      throw unreadable(`it has more than ${MAX_SHEETS} sheets`);
    }
    // The lowest two bits: visible, hidden, very hidden (MS-XLS, 2.4.28).
    const isHidden = (bytes[4]! & 3) !== 0;
    this.worksheets.push({ name, offset: bytes.readUInt32LE(0), isHidden });
  }
}

/** Exactly as many as announced: fewer would leave cells without text. */
function sharedStrings(record: BiffRecord): string[] {
  const announced = content(record, 8).readUInt32LE(4);
  const text = new BiffText(record, 8);
  const strings: string[] = [];
  while (strings.length < announced) strings.push(text.wide(text.word()));
  return strings;
}
