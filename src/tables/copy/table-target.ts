import { existsSync, lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type FileStamp,
  isAbsence,
  RACY_WINDOW_MS,
  StampedPath,
} from '../../base/files/file-stamp.ts';
import { Glance } from '../../base/files/libc.ts';

export interface TableTarget {
  readonly rel: string;
  readonly sheet: string | null;
  /** Absolute, for the stamp check; never shown. */
  readonly path: string;
  /** Absolute paths; the first that exists counts. */
  readonly companions: {
    readonly schema: readonly string[];
    readonly options: readonly string[];
    /** Parts of the file under other names. */
    readonly besides?: readonly string[];
  };
}

/** ext, XFS, Btrfs, tmpfs, overlay. */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630,
]);

const known = new WeakMap<TableTarget['companions'], CompanionStamps>();

/** Changes whenever a companion appears, changes or goes. */
export function companionFingerprint({ companions }: Pick<TableTarget, 'companions'>): string {
  let stamps = known.get(companions);
  if (stamps === undefined) {
    stamps = new CompanionStamps(companions);
    known.set(companions, stamps);
  }
  return stamps.fingerprint();
}

class CompanionStamps {
  /** All would stand in one folder, which some document roots do not have. */
  readonly #folder: string | null;
  readonly #paths: readonly StampedPath[];
  readonly #stamps: (FileStamp | null)[];
  #fingerprint: string;
  #hasFolder = false;
  readonly #besides: readonly StampedPath[];
  readonly #glance: Glance;
  /** No companion is in the folder, and one that comes changes it; null: not known. */
  #isEmpty: boolean | null = null;

  constructor({ schema, options, besides = [] }: TableTarget['companions']) {
    const paths = [...schema, ...options];
    this.#folder = paths.length === 0 ? null : dirname(paths[0]!);
    this.#glance = new Glance(this.#folder ?? '/');
    this.#paths = paths.map((path) => new StampedPath(path));
    this.#stamps = paths.map(() => null);
    this.#besides = besides.map((path) => new StampedPath(path));
    this.#fingerprint = fingerprintOf(this.#stamps);
  }

  fingerprint(): string {
    const own = this.#ofCompanions();
    if (this.#besides.length === 0) return own;
    return `${own}|${fingerprintOf(this.#besides.map((path) => path.stamp()))}`;
  }

  #ofCompanions(): string {
    // Once there it may go: then there are no companions either.
    this.#hasFolder ||= this.#folder !== null && existsSync(this.#folder);
    if (!this.#hasFolder) return this.#fingerprint;
    const isSameFolder = this.#glance.isUnchanged();
    if (!isSameFolder) this.#isEmpty = null;
    if (this.#isEmpty === true) return this.#fingerprint;
    const checkedAt = Date.now();
    let isChanged = false;
    for (let at = 0; at < this.#paths.length; at++) {
      const stamp = this.#paths[at]!.stamp();
      isChanged ||= stamp !== this.#stamps[at];
      this.#stamps[at] = stamp;
    }
    if (isChanged) this.#fingerprint = fingerprintOf(this.#stamps);
    const isSettled = isSameFolder && checkedAt - this.#glance.changedMs > RACY_WINDOW_MS + 1000;
    if (isSettled && this.#isEmpty === null && this.#stamps.every((stamp) => stamp === null)) {
      this.#isEmpty =
        hasReliableTimes(this.#folder!) &&
        // The target of a link may come without the folder changing.
        this.#paths.every(({ path }) => isNothing(path));
    }
    return this.#fingerprint;
  }
}

function fingerprintOf(stamps: readonly (FileStamp | null)[]): string {
  return stamps
    .map((stamp) =>
      stamp ? `${stamp.inode}.${stamp.size}.${stamp.mtimeNs}.${stamp.ctimeNs}` : '-',
    )
    .join('|');
}

/** A name may be too long for a file while the dataset's own is not. */
function isNothing(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return isAbsence(error);
  }
}

/** On local disks it has, not on everything that looks like one. */
function hasReliableTimes(folder: string): boolean {
  try {
    return LOCAL_FILE_SYSTEMS.has(statfsSync(folder).type);
  } catch {
    return false;
  }
}
