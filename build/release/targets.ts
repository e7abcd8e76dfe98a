/**
 * The systems a release has executables for, and how an executable is told from its first bytes.
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** One executable of a release. */
export interface Target {
  /** Ending of its file name: `linux-x64-musl`. */
  readonly name: string;
  /** What `bun build --target` calls it. */
  readonly runtime: string;
  /** What the file must be, as `executableKind` says it. */
  readonly kind: string;
  /** Debian's name of the processor, where a package is made of it. */
  readonly debian: 'amd64' | 'arm64' | null;
}

/** In the order they are built. The x64 ones need no more of a processor than x86-64 itself has. */
export const targets: readonly Target[] = [
  target('linux-x64', 'ELF x86-64, /lib64/ld-linux-x86-64.so.2', 'amd64'),
  target('linux-arm64', 'ELF arm64, /lib/ld-linux-aarch64.so.1', 'arm64'),
  target('linux-x64-musl', 'ELF x86-64, /lib/ld-musl-x86_64.so.1'),
  target('linux-arm64-musl', 'ELF arm64, /lib/ld-musl-aarch64.so.1'),
  target('darwin-x64', 'Mach-O x86-64'),
  target('darwin-arm64', 'Mach-O arm64'),
  target('windows-x64', 'PE x86-64'),
];

const HEADER_BYTES = 65_536;
const ELF_MAGIC = 0x7f454c46;
const MACH_O_MAGIC = 0xfeedfacf;
const PE_MAGIC = 0x4550;
const ELF_MACHINES: Readonly<Record<number, string>> = { 0x3e: 'x86-64', 0xb7: 'arm64' };
const MACH_O_MACHINES: Readonly<Record<number, string>> = {
  0x01000007: 'x86-64',
  0x0100000c: 'arm64',
};
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: 'x86-64', 0xaa64: 'arm64' };
const ELF_INTERPRETER = 3;

function target(name: string, kind: string, debian: Target['debian'] = null): Target {
  return { name, runtime: `bun-${name}`, kind, debian };
}

/** File name of an executable of a release. */
export function executableName({ name }: Target, version: string): string {
  return `svc-${version}-${name}${name.startsWith('windows') ? '.exe' : ''}`;
}

/** Form, processor and, of an ELF file, the loader it asks for; `unknown` for anything else. */
export function executableKind(path: string): string {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  if (header.readUInt32BE(0) === ELF_MAGIC) return elfKind(header);
  if (header.readUInt32LE(0) === MACH_O_MAGIC) {
    return `Mach-O ${MACH_O_MACHINES[header.readUInt32LE(4)] ?? 'other'}`;
  }
  const pe = header.toString('latin1', 0, 2) === 'MZ' ? header.readUInt32LE(0x3c) : HEADER_BYTES;
  if (pe > HEADER_BYTES - 8 || header.readUInt32LE(pe) !== PE_MAGIC) return 'unknown';
  return `PE ${PE_MACHINES[header.readUInt16LE(pe + 4)] ?? 'other'}`;
}

/** The program header table of a 64-bit little-endian ELF file (gABI, "Program Header"). */
function elfKind(header: Buffer): string {
  const machine = ELF_MACHINES[header.readUInt16LE(18)] ?? 'other';
  const table = Number(header.readBigUInt64LE(32));
  const [size, count] = [header.readUInt16LE(54), header.readUInt16LE(56)];
  for (let at = table; at < table + size * count; at += size) {
    if (header.readUInt32LE(at) !== ELF_INTERPRETER) continue;
    const from = Number(header.readBigUInt64LE(at + 8));
    return `ELF ${machine}, ${header.toString('latin1', from, header.indexOf(0, from))}`;
  }
  return `ELF ${machine}`;
}
