/** Records of a ZIP archive (APPNOTE 6.3) as both writers make them: without 64-bit numbers. */

export const LOCAL_SIGNATURE = 0x04034b50;
export const LOCAL_BYTES = 30;
export const RECORD_SIGNATURE = 0x02014b50;
export const RECORD_BYTES = 46;
export const END_SIGNATURE = 0x06054b50;
export const END_BYTES = 22;

/** Deflate, the most demanding feature of the entries written. */
export const ZIP_VERSION = 20;

export interface ZipEntry {
  readonly flags: number;
  readonly method: number;
  /** Time and date as in the file. */
  readonly modified: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** What a local header and a record of the directory have in common; returns the end. */
export function writeZipEntry(record: Buffer, at: number, entry: ZipEntry): number {
  let next = record.writeUInt16LE(ZIP_VERSION, at);
  next = record.writeUInt16LE(entry.flags, next);
  next = record.writeUInt16LE(entry.method, next);
  next = record.writeUInt32LE(entry.modified, next);
  next = record.writeUInt32LE(entry.crc, next);
  next = record.writeUInt32LE(entry.compressedSize, next);
  return record.writeUInt32LE(entry.size, next);
}

export function zipLocalHeader(name: Uint8Array, entry: ZipEntry): Buffer {
  const header = Buffer.alloc(LOCAL_BYTES + name.length);
  header.writeUInt32LE(LOCAL_SIGNATURE, 0);
  header.writeUInt16LE(name.length, writeZipEntry(header, 4, entry));
  header.set(name, LOCAL_BYTES);
  return header;
}

/** `offset` and `size` are those of the directory. */
export function zipEnd(count: number, offset: number, size: number, comment?: Uint8Array): Buffer {
  const end = Buffer.alloc(END_BYTES + (comment?.length ?? 0));
  end.writeUInt32LE(END_SIGNATURE, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment?.length ?? 0, 20);
  if (comment) end.set(comment, END_BYTES);
  return end;
}
