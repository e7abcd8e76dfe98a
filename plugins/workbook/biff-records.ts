/**
 * The records of a legacy workbook stream (MS-XLS, 2.1.4): type, length, and content that may
 * continue in CONTINUE records.
 */
import { unreadable } from './unreadable.ts';

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
 * The records from the BEGIN record at `offset` to its END, both excluded, without nested
 * substreams (charts). Throws `unreadable-file` when truncated or not a substream.
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
