/**
 * File systems that were mounted in the document root and are not mounted now.
 *
 * The mount point is then an empty folder, as if all files had been deleted, yet the disk or share will probably come
 * back. Mount points are remembered across restarts, because the service may start before a share is mounted.
 */
import type { Log } from '../../base/log.ts';
import { MemoryFile } from '../../base/files/memory-file.ts';
import { mountChanges, MountList, mountsInside, pointOf } from '../../base/files/mounts.ts';

interface UnmountedOptions {
  /** File in which mount points are remembered; null: none. */
  readonly memory: string | null;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Log;
}

interface SavedPoints {
  readonly points: readonly (readonly [string, number | null])[];
}

interface Seen {
  readonly changes: number;
  readonly inside: readonly string[];
}

/** A file system not mounted for so long is forgotten. */
const FORGOTTEN_AFTER_MS = 30 * 24 * 3_600_000;

/** Paths are absolute, without symlinks. */
export class UnmountedFolders {
  readonly #options: UnmountedOptions;
  readonly #memory: MemoryFile<SavedPoints> | null;
  readonly #mountList = new MountList();
  /** Since when nothing is mounted at a mount point, epoch ms; null while something is. */
  readonly #points: Map<string, number | null>;
  #seen: Seen | null = null;
  /** Mount points whose file system changed since the look before the last one. */
  #moved: ReadonlySet<string> = new Set();
  #mounted: ReadonlySet<string> = new Set();

  constructor(options: UnmountedOptions) {
    this.#options = options;
    const { memory, log, now } = options;
    this.#memory = memory === null ? null : new MemoryFile(memory, log);
    // Without a memory missing files count as deleted.
    const load = ({ points }: SavedPoints) =>
      new Map(points.filter(([, since]) => !isForgotten(since, now())));
    this.#points = this.#memory?.load(load) ?? new Map();
  }

  /** Files missing below a mount point that changed before the end of the look count as away. */
  async during<T>(folder: () => string, look: () => Promise<T>): Promise<T> {
    const before = this.#seen;
    const early = this.#read(folder());
    const found = await look();
    const late = this.#read(folder());
    const moved = [...differing(before ?? early, early), ...differing(early, late)];
    this.#moved = new Set(moved.map(pointOf));
    this.#mounted = new Set(late.inside.map(pointOf));
    this.#seen = late;
    if (before === null || moved.length > 0) this.#save();
    return found;
  }

  isAway(path: string): boolean {
    const wanted = asListed(path);
    for (const point of this.#moved) if (isBelow(wanted, point)) return true;
    for (const point of this.#points.keys()) {
      if (!this.#mounted.has(point) && isBelow(wanted, point)) return true;
    }
    return false;
  }

  #read(folder: string): Seen {
    const changes = mountChanges();
    return { changes, inside: mountsInside(this.#mountList.of(folder), folder) };
  }

  #save(): void {
    const { now } = this.#options;
    for (const point of this.#mounted) this.#points.set(point, null);
    for (const [point, since] of this.#points) {
      if (this.#mounted.has(point)) continue;
      if (since === null) this.#points.set(point, now());
      else if (isForgotten(since, now())) this.#points.delete(point);
    }
    if (this.#points.size > 0) this.#memory?.save({ points: [...this.#points] });
  }
}

function isForgotten(awaySince: number | null, now: number): boolean {
  return awaySince !== null && now - awaySince >= FORGOTTEN_AFTER_MS;
}

/** Any of the file systems may have gone and come back. */
function differing(a: Seen, b: Seen): string[] {
  const isSame = a.changes === b.changes && a.inside.join('\n') === b.inside.join('\n');
  return isSame ? [] : [...a.inside, ...b.inside];
}

function asListed(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isBelow(path: string, point: string): boolean {
  return path.startsWith(`${point}/`);
}
