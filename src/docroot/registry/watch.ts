/**
 * Reports changed paths of the document root.
 *
 * The kernel's events are hints: they repeat, name paths that are gone, and are dropped under pressure. So paths are
 * gathered and reported as a set, or as "everything" when there are too many, when the root was replaced or a file
 * system mounted inside (which causes no events), and repeatedly where other machines change files. The caller must
 * still rescan now and then.
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import { errnoOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isCompanion } from '../companions.ts';
import type { DocumentRoot } from '../document-root.ts';
import { mountChanges, MountList, type Mounts, mountsInside } from '../../base/files/mounts.ts';

interface WatchOptions {
  readonly root: DocumentRoot;
  /** Everything after a failed call. The next call waits until this one has settled. */
  readonly onPaths: (rels: ReadonlySet<string> | 'everything') => Promise<void>;
  readonly log: Log;
  /** How often it is checked that the watched folder still is the root, in ms. */
  readonly verifyMs?: number;
}

/** How long changes are gathered. */
const GATHER_MS = 40;
const VERIFY_MS = 400;
/** Where events are incomplete, walks take at most one part in so many of the time. */
const WALK_SHARE = 10;
/** Above this one walk over everything is cheaper than looking at each path. */
const MAX_PATHS = 20_000;

/** Make it before the first scan, so that no change is missed between the two. */
export class DocrootWatch {
  readonly #options: WatchOptions;
  readonly #verifyTimer: Timer;
  #watcher: FSWatcher | null = null;
  /** Device and inode of the root at the last check; null when it was gone. */
  #watched: string | null;
  readonly #mountList = new MountList();
  #mounts: Mounts;
  #mountChanges = mountChanges();
  #gathered = new Set<string>();
  #isEverything = false;
  #gatherTimer: Timer | null = null;
  #handing: Promise<void> | null = null;
  /** While not everything can be watched: when everything is looked at next. */
  #nextWalkAt = 0;
  /** The last `onPaths` failed, so any change may have been missed. */
  #isBehind = false;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#watched = identityOf(options.root.path);
    this.#mounts = this.#mountList.of(options.root.realPath);
    this.#arm();
    this.#logShared();
    this.#verifyTimer = setInterval(() => this.#verify(), options.verifyMs ?? VERIFY_MS);
    this.#verifyTimer.unref();
  }

  /** Waits for the call of `onPaths` that is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#verifyTimer);
    if (this.#gatherTimer !== null) clearTimeout(this.#gatherTimer);
    this.#watcher?.close();
    await this.#handing;
  }

  #arm(): void {
    try {
      const { path } = this.#options.root;
      this.#watcher = watch(path, { recursive: true }, (_event, name) => this.#onEvent(name));
      this.#watcher.on('error', (error) => this.#onFailure(error));
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** A limit on watches that was hit once is hit again: from now on everything is looked at repeatedly. */
  #onFailure(error: unknown): void {
    this.#watcher?.close();
    this.#watcher = null;
    this.#nextWalkAt = 0;
    // The system's message, "no space left on device", misleads people to look at their disks.
    const remedy =
      errnoOf(error) === 'ENOSPC' ? { remedy: 'raise fs.inotify.max_user_watches' } : {};
    this.#options.log.warning(
      'the document root cannot be watched, so it is walked again and again',
      { ...remedy, error },
    );
  }

  #logShared(): void {
    if (!this.#mounts.isShared) return;
    this.#options.log.info(
      'other machines may change the document root, so it is walked again and again',
    );
  }

  #onEvent(name: string | Buffer | null | undefined): void {
    if (this.#isClosed) return;
    const rel = name?.toString() ?? '';
    // Without a name the event is about the root itself.
    if (rel === '') return this.#verify();
    if (!this.#options.root.mayPublish(rel) && !isCompanion(rel)) return;
    if (this.#gathered.size >= MAX_PATHS) this.#isEverything = true;
    else this.#gathered.add(rel);
    this.#gather();
  }

  #verify(): void {
    if (this.#isClosed) return;
    const identity = identityOf(this.#options.root.path);
    const mounts = this.#mountList.of(this.#options.root.realPath);
    const isRemounted = this.#mayBeRemounted(mounts);
    const isSameMounts = mounts.identity === this.#mounts.identity && !isRemounted;
    if (identity === this.#watched && isSameMounts) {
      const seesAll = this.#watcher !== null && !mounts.isShared && !this.#isBehind;
      if (!seesAll && identity !== null && performance.now() >= this.#nextWalkAt) {
        this.#isEverything = true;
        this.#gather();
      }
      return;
    }
    const wasShared = this.#mounts.isShared;
    this.#watched = identity;
    this.#mounts = mounts;
    if (!wasShared) this.#logShared();
    this.#watcher?.close();
    this.#watcher = null;
    if (identity !== null) this.#arm();
    this.#isEverything = true;
    this.#gather();
  }

  /** A file system that went and came back between two checks looks unchanged, but its watches are gone. */
  #mayBeRemounted(mounts: Mounts): boolean {
    const changes = mountChanges();
    if (changes === this.#mountChanges) return false;
    this.#mountChanges = changes;
    return mountsInside(mounts, this.#options.root.realPath).length > 0;
  }

  #gather(): void {
    if (this.#gatherTimer !== null || this.#handing !== null) return;
    this.#gatherTimer = setTimeout(() => {
      this.#gatherTimer = null;
      this.#handing = this.#handOver();
    }, GATHER_MS);
  }

  async #handOver(): Promise<void> {
    const paths = this.#isEverything ? 'everything' : this.#gathered;
    const startedAt = performance.now();
    this.#gathered = new Set();
    this.#isEverything = false;
    try {
      await this.#options.onPaths(paths);
      this.#isBehind = false;
    } catch (error) {
      // Retried until it works, logged once.
      if (!this.#isBehind) {
        this.#options.log.error('changes of the document root were not followed', { error });
      }
      this.#isBehind = true;
    }
    this.#nextWalkAt = performance.now() + WALK_SHARE * (performance.now() - startedAt);
    this.#handing = null;
    if (!this.#isClosed && (this.#isEverything || this.#gathered.size > 0)) this.#gather();
  }
}

function identityOf(path: string): string | null {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats?.isDirectory() ? `${stats.dev}.${stats.ino}` : null;
  } catch {
    // Unreachable counts as gone: the next check finds it again.
    return null;
  }
}
