/**
 * The records of a legacy workbook stream (MS-XLS, 2.1.4): a type, a length, content that may go on in CONTINUE records.
 */
import { unreadable } from './file-bytes.ts';

/** Types of the records that are read; all others are passed over. */
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

/** A record and the records that continue it. */
export interface BiffRecord {
  readonly type: number;
  /** Content of the record and of each continuation; at least one. */
  readonly parts: readonly Buffer[];
}

/**
 * The records of the substream that begins at `offset` with a BEGIN record, up to its END, both left out, without what is
 * nested in it (charts). Throws `unreadable-file` when it is cut off or something else stands there.
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

/** The record at `at` with its continuations. */
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

/** The first `length` bytes of a record's own content. Throws `unreadable-file` when it has fewer. */
export function content(record: BiffRecord, length: number): Buffer {
  const [part] = record.parts;
  if (!part || part.length < length) throw unreadable('a record is too short');
  return part;
}
