/**
 * System calls that Bun lacks, bound on first use. Where the C library or file system lacks a call, the result says
 * so and callers fall back. Synchronous: a rename within a folder takes about 10 µs.
 */
import { dlopen, type FFIFunction, type Library, ptr, read } from 'bun:ffi';
import { constants } from 'node:os';

const SYMBOLS = {
  renameat2: { args: ['i32', 'ptr', 'i32', 'ptr', 'u32'], returns: 'i32' },
  flistxattr: { args: ['i32', 'ptr', 'u64'], returns: 'i64' },
  fgetxattr: { args: ['i32', 'ptr', 'ptr', 'u64'], returns: 'i64' },
  fsetxattr: { args: ['i32', 'ptr', 'ptr', 'u64', 'i32'], returns: 'i32' },
  poll: { args: ['ptr', 'u64', 'i32'], returns: 'i32' },
  statx: { args: ['i32', 'ptr', 'i32', 'u32', 'ptr'], returns: 'i32' },
  __errno_location: { args: [], returns: 'ptr' },
} as const;

const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const POLLPRI = 2;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_STATX_FORCE_SYNC = 0x2000;
const STATX_BASIC_STATS = 0x7ff;
const STATX_BYTES = 256;
/** Kind and mode, inode, size, mtime, ctime. */
const STATX_VERSION = 0x3c3;
/** 32-bit word offsets of those and the device. */
const VERSION_WORDS = [7, 8, 9, 10, 11, 24, 25, 26, 28, 29, 30, 34, 35];
const CTIME_SECONDS = 24;
const MTIME_SECONDS = 28;
/** The kernel's own bounds on the name list and on one value. */
const XATTR_MAX_BYTES = 65_536;

let bound: Library<typeof SYMBOLS> | null | undefined;

function libc(): Library<typeof SYMBOLS> | null {
  if (bound !== undefined) return bound;
  bound = null;
  // One without renameat2 (musl before 1.2.6) is as none: callers fall back.
  if (process.platform === 'linux') bound = openLibc(SYMBOLS);
  return bound;
}

/** Null where there is no C library with these symbols: glibc, musl or that of macOS. */
export function openLibc<const Symbols extends Record<string, FFIFunction>>(
  symbols: Symbols,
): Library<Symbols> | null {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  for (const name of ['libc.so.6', `libc.musl-${machine}.so.1`, 'libSystem.B.dylib']) {
    try {
      return dlopen(name, symbols);
    } catch {
      // Another C library: the next name.
    }
  }
  return null;
}

/** False when this system cannot; other failures throw with their errno. */
export function exchangeFiles(a: string, b: string): boolean {
  return renameat2(a, b, RENAME_EXCHANGE);
}

/** Throws `EEXIST` when `to` exists. False when this system cannot. */
export function renameToNew(from: string, to: string): boolean {
  return renameat2(from, to, RENAME_NOREPLACE);
}

function renameat2(from: string, to: string, flags: number): boolean {
  const library = libc();
  if (library === null) return false;
  const { symbols } = library;
  if (symbols.renameat2(AT_FDCWD, cString(from), AT_FDCWD, cString(to), flags) === 0) return true;
  const errno = lastErrno(library);
  // EINVAL: a file system without the flag (the paths are never each other's parent); ENOSYS: a kernel without the call.
  if (errno === constants.errno.EINVAL || errno === constants.errno.ENOSYS) return false;
  throw systemError(errno, 'renameat2');
}

/** Access lists, labels, `user.*`. What the file system or the process's rights refuse is left out. */
export function copyExtendedAttributes(fromFd: number, toFd: number): void {
  const library = libc();
  if (library === null) return;
  const { flistxattr, fgetxattr, fsetxattr } = library.symbols;
  // Asking for the length alone costs 0.5 µs, and most files have none.
  if (Number(flistxattr(fromFd, null, 0)) <= 0) return;
  const list = Buffer.alloc(XATTR_MAX_BYTES);
  const listed = Number(flistxattr(fromFd, list, list.byteLength));
  const value = Buffer.alloc(XATTR_MAX_BYTES);
  let start = 0;
  while (start < listed) {
    const end = list.indexOf(0, start);
    const name = Buffer.from(list.subarray(start, end + 1));
    const length = Number(fgetxattr(fromFd, name, value, value.byteLength));
    if (length >= 0) fsetxattr(toFd, name, value, length, 0);
    start = end + 1;
  }
}

/** Of an open kernel file, such as a list in `/proc`; asking clears it. About 2 µs. */
export function hasNews(fd: number): boolean {
  const library = libc();
  if (library === null) return false;
  const asked = new DataView(new ArrayBuffer(8));
  asked.setInt32(0, fd, true);
  asked.setInt16(4, POLLPRI, true);
  return library.symbols.poll(new Uint8Array(asked.buffer), 1, 0) > 0;
}

/**
 * Makes a network or FUSE file system look at `path` again, so that the next `lstat` is not from its cache. About 2
 * µs on a local disk.
 */
export function askAnew(path: string): void {
  const flags = AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC;
  const answer = new Uint8Array(STATX_BYTES);
  libc()?.symbols.statx(AT_FDCWD, cString(path), flags, STATX_BASIC_STATS, answer);
}

/** Half a microsecond and no garbage, where `statSync` with bigint costs 3. */
export class Glance {
  readonly #path: Buffer;
  readonly #answer = new Int32Array(STATX_BYTES / 4);
  readonly #seen = new Int32Array(VERSION_WORDS.length);
  readonly #pathAt: ReturnType<typeof ptr>;
  readonly #answerAt: ReturnType<typeof ptr>;
  #found: 'something' | 'nothing' | null = null;

  constructor(path: string) {
    this.#path = cString(path);
    this.#pathAt = ptr(this.#path);
    this.#answerAt = ptr(this.#answer);
  }

  /** ctime or mtime of the last look, to a second, in epoch milliseconds. */
  get changedMs(): number {
    const seconds = Math.max(this.#answer[CTIME_SECONDS]!, this.#answer[MTIME_SECONDS]!);
    return (seconds >>> 0) * 1000;
  }

  /** Or still nothing is there; false where unknown. */
  isUnchanged(): boolean {
    const library = libc();
    if (library === null) return false;
    const { statx } = library.symbols;
    const before = this.#found;
    if (statx(AT_FDCWD, this.#pathAt, 0, STATX_VERSION, this.#answerAt) !== 0) {
      this.#found = lastErrno(library) === constants.errno.ENOENT ? 'nothing' : null;
      return this.#found !== null && before === this.#found;
    }
    this.#found = 'something';
    let isUnchanged = before === this.#found;
    for (let at = 0; at < VERSION_WORDS.length; at++) {
      const word = this.#answer[VERSION_WORDS[at]!]!;
      if (this.#seen[at] === word) continue;
      this.#seen[at] = word;
      isUnchanged = false;
    }
    return isUnchanged;
  }
}

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

function lastErrno(library: Library<typeof SYMBOLS>): number {
  const location = library.symbols.__errno_location();
  return location === null ? constants.errno.EIO : read.i32(location, 0);
}

function systemError(errno: number, syscall: string): Error {
  const code = Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? 'EIO';
  return Object.assign(new Error(`${code}: ${syscall}`), { code, errno, syscall });
}
