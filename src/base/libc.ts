/**
 * The few system calls that Bun does not offer: renames that swap or refuse to overwrite, extended attributes, polling, and
 * asking a file system that remembers.
 *
 * Bound on first use. Where the C library or the file system lacks a call the answer says so and the caller does
 * without. The calls are synchronous: a rename within a folder takes about 10 µs.
 */
import { dlopen, read, type Library } from 'bun:ffi';
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
/** The kernel's own bounds on the list of names and on one value. */
const XATTR_MAX_BYTES = 65_536;

let bound: Library<typeof SYMBOLS> | null | undefined;

function libc(): Library<typeof SYMBOLS> | null {
  if (bound !== undefined) return bound;
  bound = null;
  if (process.platform !== 'linux') return bound;
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  for (const name of ['libc.so.6', `libc.musl-${machine}.so.1`]) {
    try {
      bound = dlopen(name, SYMBOLS);
      break;
    } catch {
      // Another C library, or one without renameat2 (musl before 1.2.6): callers fall back.
    }
  }
  return bound;
}

/** Swaps the files at two paths in one step. False when this system cannot; other failures throw with their errno. */
export function exchangeFiles(a: string, b: string): boolean {
  return renameat2(a, b, RENAME_EXCHANGE);
}

/** Renames and throws `EEXIST` when `to` exists. False when this system cannot. */
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

/**
 * Copies the extended attributes (access lists, labels, `user.*`) from one open file to another. Best effort: what the
 * file system or the process's rights refuse is left out.
 */
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

/** Whether the kernel has urgent news of an open file of its own, such as a list in `/proc`; asking takes them. About 2 µs. */
export function hasNews(fd: number): boolean {
  const library = libc();
  if (library === null) return false;
  const asked = new DataView(new ArrayBuffer(8));
  asked.setInt32(0, fd, true);
  asked.setInt16(4, POLLPRI, true);
  return library.symbols.poll(new Uint8Array(asked.buffer), 1, 0) > 0;
}

/**
 * Has the system ask a network file system, or a program that is one, about the entry at `path` itself: the next `lstat`
 * answers from that, not from what was remembered. Does nothing where there is none. About 2 µs on a local disk.
 */
export function askAnew(path: string): void {
  const flags = AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC;
  const answer = new Uint8Array(STATX_BYTES);
  libc()?.symbols.statx(AT_FDCWD, cString(path), flags, STATX_BASIC_STATS, answer);
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
