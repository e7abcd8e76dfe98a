/**
 * Which file systems a folder consists of, as Linux lists them.
 *
 * Watching a folder tells nothing of a file system that is mounted over it later, and nothing of what other machines
 * change on one they share. On other systems nothing is known and the folder counts as local.
 * Source: proc_pid_mountinfo(5).
 */
import { openSync, readFileSync } from 'node:fs';
import { hasNews } from './libc.ts';

/** What is mounted at, below and around a folder. */
export interface Mounts {
  /** Another text when a file system below the folder, or the one it lies on, comes, goes or is replaced. */
  readonly identity: string;
  /** Whether other machines, or a host, may change files of it without the kernel hearing of it. */
  readonly isShared: boolean;
  /** The same of the file system the folder itself lies on. */
  readonly liesOnShared: boolean;
}

const NONE: Mounts = { identity: '', isShared: false, liesOnShared: false };

const SHARED =
  /^(?:9p|afs|beegfs|ceph|cifs|coda|fuse(?:\..*)?|gfs2|gpfs|lustre|nfs4?|ocfs2|prl_fs|smb3|smbfs|vboxsf|virtiofs|vmhgfs)$/;

/** Reads mounts again and again; a list that did not change costs one small read, some 50 µs. */
export class MountList {
  readonly #read: () => string | null;
  #list = '';
  #folder = '';
  #mounts = NONE;

  /** `read` gives the text of a mountinfo file, read as latin1; null: not now. That of this process unless given. */
  constructor(read: () => string | null = currentList) {
    this.#read = read;
  }

  /** The mounts of the folder, a real path, as they are now, or were when they could last be told. */
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
 * Another number after anything was mounted or unmounted since the last call: what is mounted again looks as before, because
 * the kernel gives the numbers of mounts anew. Always the same where it does not tell.
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

/** The mounts in `folder`, and one at that very place; `number point`, as in `Mounts.identity`. */
export function mountsInside({ identity }: Pick<Mounts, 'identity'>, folder: string): string[] {
  const wanted = Buffer.from(folder).toString('latin1');
  const below = wanted === '/' ? '/' : `${wanted}/`;
  return identity.split('\n').filter((line) => `${pointOf(line)}/`.startsWith(below));
}

/** The mount point of a line of `Mounts.identity`, read as latin1. */
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

/** The mounts of a folder according to the text of a mountinfo file, read as latin1. */
export function mountsOf(folder: string, list: string): Mounts {
  const wanted = Buffer.from(folder).toString('latin1');
  const below = wanted === '/' ? '/' : `${wanted}/`;
  let around: Mount | null = null;
  const inside: Mount[] = [];
  for (const line of list.split('\n')) {
    const mount = mountOf(line);
    if (mount === null) continue;
    if (mount.point.startsWith(below) && mount.point !== '/') inside.push(mount);
    // Of two mounts at the same place the later one hides the other.
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
