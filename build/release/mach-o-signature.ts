/**
 * The signature inside of an executable for macOS. The runtime's compiler leaves the one of its own program in executables
 * for Intel, which does not fit what was added, and macOS may end a program whose signature is wrong; so a fitting one
 * without a signer ("ad hoc") takes its place. Layout: `mach-o/loader.h` and `cs_blobs.h` of Darwin's sources.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const HEADER_BYTES = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const CODE_DIRECTORY_SLOT = 0;
/** The first version that tells where the code segment is. */
const VERSION = 0x20400;
const AD_HOC = 0x2;
const MAIN_BINARY = 1n;
const SHA_256 = 2;
const HASH_BYTES = 32;
const PAGE_BITS = 12;
const SUPER_BLOB_BYTES = 20;
const DIRECTORY_BYTES = 88;
const SEGMENT_PAGE = 16_384n;
const ALIGNMENT = 16;

interface Layout {
  /** Offsets of load commands. */
  readonly text: number;
  readonly linkEdit: number;
  readonly signature: number;
  /** Where the signature begins; what comes before is signed. */
  readonly signatureAt: number;
}

/** Whether the signature covers everything before it and every page is as it was signed. */
export function isSignedWell(path: string): boolean {
  const file = readFileSync(path);
  const { signatureAt } = layoutOf(file);
  const blob = file.subarray(signatureAt);
  if (blob.length < SUPER_BLOB_BYTES || blob.readUInt32BE(0) !== SUPER_BLOB) return false;
  const directory = blob.subarray(blob.readUInt32BE(16));
  if (directory.readUInt32BE(0) !== CODE_DIRECTORY) return false;
  const hashes = directory.subarray(directory.readUInt32BE(16));
  const isWhole = directory.readUInt32BE(32) === signatureAt && directory[37] === SHA_256;
  return (
    isWhole && pageHashes(file, signatureAt).equals(hashes.subarray(0, hashBytes(signatureAt)))
  );
}

/** Puts a signature without a signer in place of whatever is there; `identifier` names the program in it. */
export function signAdHoc(path: string, identifier: string): void {
  const file = readFileSync(path);
  const { text, linkEdit, signature, signatureAt } = layoutOf(file);
  const name = Buffer.from(`${identifier}\0`);
  const directoryBytes = DIRECTORY_BYTES + name.length + hashBytes(signatureAt);
  const blobBytes = SUPER_BLOB_BYTES + directoryBytes;
  const size = Math.ceil(blobBytes / ALIGNMENT) * ALIGNMENT;
  const signed = Buffer.alloc(signatureAt + size);
  file.copy(signed, 0, 0, signatureAt);
  // The commands are signed too, so they have to be right before the pages are hashed.
  signed.writeUInt32LE(size, signature + 12);
  const linkEditBytes = BigInt(signed.length) - signed.readBigUInt64LE(linkEdit + 40);
  signed.writeBigUInt64LE(linkEditBytes, linkEdit + 48);
  signed.writeBigUInt64LE(
    ((linkEditBytes + SEGMENT_PAGE - 1n) / SEGMENT_PAGE) * SEGMENT_PAGE,
    linkEdit + 32,
  );

  const blob = signed.subarray(signatureAt);
  [SUPER_BLOB, blobBytes, 1, CODE_DIRECTORY_SLOT, SUPER_BLOB_BYTES].forEach((word, at) =>
    blob.writeUInt32BE(word, at * 4),
  );
  const directory = blob.subarray(SUPER_BLOB_BYTES);
  const hashesAt = DIRECTORY_BYTES + name.length;
  const pages = hashBytes(signatureAt) / HASH_BYTES;
  [
    CODE_DIRECTORY,
    directoryBytes,
    VERSION,
    AD_HOC,
    hashesAt,
    DIRECTORY_BYTES,
    0,
    pages,
    signatureAt,
  ].forEach((word, at) => directory.writeUInt32BE(word, at * 4));
  directory.set([HASH_BYTES, SHA_256, 0, PAGE_BITS], 36);
  directory.writeBigUInt64BE(signed.readBigUInt64LE(text + 40), 64);
  directory.writeBigUInt64BE(signed.readBigUInt64LE(text + 48), 72);
  directory.writeBigUInt64BE(MAIN_BINARY, 80);
  name.copy(directory, DIRECTORY_BYTES);
  pageHashes(signed, signatureAt).copy(directory, hashesAt);
  writeFileSync(path, signed);
}

/** Throws when one of the three load commands is missing. */
function layoutOf(file: Buffer): Layout {
  const found = new Map<string, number>();
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = file.readUInt32LE(at);
    if (command === LC_CODE_SIGNATURE) found.set('signature', at);
    if (command === LC_SEGMENT_64) {
      found.set(file.toString('latin1', at + 8, at + 24).replace(/\0+$/, ''), at);
    }
    at += file.readUInt32LE(at + 4);
  }
  const [text, linkEdit, signature] = ['__TEXT', '__LINKEDIT', 'signature'].map((name) =>
    found.get(name),
  );
  if (text === undefined || linkEdit === undefined || signature === undefined) {
    throw new Error('the executable has no place for a signature');
  }
  return { text, linkEdit, signature, signatureAt: file.readUInt32LE(signature + 8) };
}

function hashBytes(length: number): number {
  return Math.ceil(length / (1 << PAGE_BITS)) * HASH_BYTES;
}

function pageHashes(file: Buffer, length: number): Buffer {
  const hashes: Uint8Array[] = [];
  for (let at = 0; at < length; at += 1 << PAGE_BITS) {
    const page = file.subarray(at, Math.min(length, at + (1 << PAGE_BITS)));
    hashes.push(new Bun.CryptoHasher('sha256').update(page).digest());
  }
  return Buffer.concat(hashes);
}
