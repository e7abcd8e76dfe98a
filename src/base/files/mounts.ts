/**
 * The file systems a folder consists of (proc_pid_mountinfo(5)).
 *
 * Watching a folder misses file systems mounted over it later, and changes by other machines on a shared one.
 * Elsewhere than on Linux the folder counts as local.
 */
import { openSync, readFileSync } from 'node:fs';
import { hasNews } from './libc.ts';

/** What is mounted at, below and around a folder. */
export interface Mounts {
  /** Changes when a file system at or below the folder comes, goes or is replaced. */
  readonly identity: string;
  /** Other machines, or a host, may change files without the kernel noticing. */
  readonly isShared: boolean;
  /** The same for the file system of the folder itself. */
  readonly liesOnShared: boolean;
}

const NONE: Mounts = { identity: '', isShared: false, liesOnShared: false };

const SHARED =
  /^(?:9p|afs|beegfs|ceph|cifs|coda|fuse(?:\..*)?|gfs2|gpfs|lustre|nfs4?|ocfs2|prl_fs|smb3|smbfs|vboxsf|virtiofs|vmhgfs)$/;

/** An unchanged list costs one small read, some 50 µs. */
export class MountList {
  readonly #read: () => string | null;
  #list = '';
  #folder = '';
  #mounts = NONE;

  /** `read` returns a mountinfo file as latin1; null: not now. Default: this process's. */
  constructor(read: () => string | null = currentList) {
    this.#read = read;
  }

  /** `folder` is a real path. The last known state if it cannot be read now. */
  of(folder: string): Mounts {
    // A process without a free descriptor cannot look, and must not take what is mounted for gone.
    const list = this.#read() ?? this.#list;
    if (list !== this.#list || folder !== this.#folder) {
      this.#list = list;
      this.#folder = folder;
      this.#mounts = mountsOf(folder, list);
    }
    return this.#mounts;
  }
}

let opened: number | null = null;
let changes = 0;

/**
 * After any mount or unmount since the last call: a remount looks as before, because the kernel reuses mount numbers.
 */
export function mountChanges(): number {
  try {
    opened ??= openSync('/proc/self/mountinfo', 'r');
    if (hasNews(opened)) changes++;
  } catch {
    // As in `currentList`.
  }
  return changes;
}

/** In `folder` and at it; lines `number point`, as in `Mounts.identity`. */
export function mountsInside({ identity }: Pick<Mounts, 'identity'>, folder: string): string[] {
  const wanted = Buffer.from(folder).toString('latin1');
  const below = wanted === '/' ? '/' : `${wanted}/`;
  return identity.split('\n').filter((line) => `${pointOf(line)}/`.startsWith(below));
}

/** Of a line of `Mounts.identity`, read as latin1. */
export function pointOf(line: string): string {
  return line.slice(line.indexOf(' ') + 1);
}

function currentList(): string | null {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch {
    // Not Linux, /proc is not there, or nothing can be opened for now: then nothing new is known.
    return null;
  }
}

/** `list` is a mountinfo file, read as latin1. */
export function mountsOf(folder: string, list: string): Mounts {
  const wanted = Buffer.from(folder).toString('latin1');
  const below = wanted === '/' ? '/' : `${wanted}/`;
  let around: Mount | null = null;
  const inside: Mount[] = [];
  for (const line of list.split('\n')) {
    const mount = mountOf(line);
    if (mount === null) continue;
    if (mount.point.startsWith(below) && mount.point !== '/') inside.push(mount);
    // Of two mounts at one place the later hides the other.
    else if (isAround(mount.point, wanted) && mount.point.length >= (around?.point.length ?? 0)) {
      around = mount;
    }
  }
  const mounts = around === null ? inside : [around, ...inside];
  return {
    identity: mounts.map(({ id, point }) => `${id} ${point}`).join('\n'),
    isShared: mounts.some(({ type }) => SHARED.test(type)),
    liesOnShared: around !== null && SHARED.test(around.type),
  };
}

interface Mount {
  readonly id: string;
  readonly point: string;
  readonly type: string;
}

function mountOf(line: string): Mount | null {
  const [own = '', system = ''] = line.split(' - ', 2);
  const [id, , , , point] = own.split(' ');
  const [type] = system.split(' ');
  if (id === undefined || point === undefined || type === undefined) return null;
  return { id, point: unescaped(point), type };
}

/** Space, tab, newline and backslash are written as octal numbers. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

function isAround(point: string, folder: string): boolean {
  return point === '/' || point === folder || folder.startsWith(`${point}/`);
}
