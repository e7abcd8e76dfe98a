/** Executables for macOS carry a signature that fits them, which some systems want before they start a program. */
import { expect, test } from 'bun:test';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { isSignedWell, signAdHoc } from '../../../build/release/mach-o-signature.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TEXT_BYTES = 10_000;
const SIGNATURE_AT = 10_112;

/** A header, the three load commands that matter, and text in place of code. */
function executable(): Buffer {
  const file = Buffer.alloc(SIGNATURE_AT + 64, 'code ');
  file.fill(0, 0, 32 + 72 + 72 + 16);
  file.writeUInt32LE(0xfeedfacf);
  file.writeUInt32LE(3, 16);
  segment(file, 32, '__TEXT', 0, TEXT_BYTES);
  segment(file, 104, '__LINKEDIT', TEXT_BYTES, SIGNATURE_AT + 64 - TEXT_BYTES);
  [0x1d, 16, SIGNATURE_AT, 64].forEach((word, at) => file.writeUInt32LE(word, 176 + at * 4));
  return file;
}

function segment(file: Buffer, at: number, name: string, from: number, bytes: number): void {
  file.writeUInt32LE(0x19, at);
  file.writeUInt32LE(72, at + 4);
  file.write(name, at + 8);
  file.writeBigUInt64LE(BigInt(from), at + 40);
  file.writeBigUInt64LE(BigInt(bytes), at + 48);
}

test('a signature covers every byte before it', () => {
  using folder = temporaryFolder();
  const path = folder.write('svc', executable());
  chmodSync(path, 0o755);
  expect(isSignedWell(path)).toBe(false);
  signAdHoc(path, 'svc');
  expect(isSignedWell(path)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o755);
  const signed = readFileSync(path);
  expect(signed.readBigUInt64LE(104 + 48)).toBe(BigInt(signed.length - TEXT_BYTES));
  expect(signed.readUInt32LE(176 + 12)).toBe(signed.length - SIGNATURE_AT);
  for (const at of [60, 200, TEXT_BYTES, SIGNATURE_AT - 1]) {
    const changed = Buffer.from(signed);
    changed[at]! ^= 1;
    writeFileSync(path, changed);
    expect(isSignedWell(path)).toBe(false);
  }
  // Once more, over what is there: the same.
  writeFileSync(path, signed);
  signAdHoc(path, 'svc');
  expect(readFileSync(path).equals(signed)).toBe(true);
});

test('a program without a place for a signature is refused', () => {
  using folder = temporaryFolder();
  const file = executable();
  file.writeUInt32LE(2, 16);
  expect(() => isSignedWell(folder.write('svc', file))).toThrow('no place for a signature');
});
