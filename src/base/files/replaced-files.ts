/**
 * Replaced file versions, kept a moment longer.
 *
 * A program that opened a file before it was replaced may still write to it. So the replaced version is moved aside
 * and checked once more: unchanged it is deleted, changed it becomes a conflict copy that a person can merge. Later
 * writes are not noticed.
 */
import { statfsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, rename, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { timestamp, type Clock } from '../clock.ts';
import { errnoOf } from '../errors.ts';
import {
  isAbsence,
  sameContent,
  sameStamp,
  stampOf,
  statFile,
  type FileStamp,
} from './file-stamp.ts';
import { shortId } from '../ids.ts';
import type { Log } from '../log.ts';

interface ReplacedFilesOptions {
  /** On the same file system, else late writes go unnoticed. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a replaced version is watched. */
  readonly graceMs?: number;
  /** The newest is always held, unless the disk has little room. */
  readonly maxBytes?: number;
  /** `copy` is the name within `directory`. */
  readonly onConflict?: (path: string, copy: string) => void;
}

interface Held {
  readonly file: string;
  readonly path: string;
  readonly stamp: FileStamp;
  readonly timer: Timer;
}

const GRACE_MS = 2_000;
/** Two seconds of 150 replacements a second; each is a file in one folder. */
const MAX_FILES = 300;
/** A second of 150 replacements of 200 KB; holding 256 MiB halved the writes of large files. */
const MAX_BYTES = 32 << 20;
/** A replacement needs twice its file's size itself. */
const FREE_SHARE = 1 / 8;
/** Leaves room for the suffixes within the 255 bytes of a file name. */
const KEPT_CHARACTERS = 50;
/** Names `take` gives; the directory may hold other files. */
const HELD_NAME = /\.[0-9a-f]{16}$/;
const CONFLICT_MARK = '.conflict-';

/** Oldest first. Bounded in number and bytes; never fails a write. */
export class ReplacedFiles {
  readonly #options: ReplacedFilesOptions;
  /** In the order they were taken. */
  readonly #held = new Set<Held>();
  #heldBytes = 0;
  readonly #settling = new Set<Promise<void>>();
  #directoryExists = false;

  constructor(options: ReplacedFilesOptions) {
    this.#options = options;
  }

  /** How many versions are being watched. */
  get size(): number {
    return this.#held.size;
  }

  /** Conflict copies stay. Call before the first `take`. */
  async removeLeftovers(): Promise<void> {
    const { directory, log } = this.#options;
    try {
      for (const name of await readdir(directory)) {
        if (HELD_NAME.test(name)) await unlink(join(directory, name));
      }
    } catch (error) {
      if (!isAbsence(error)) log.warning('replaced files could not be cleaned up', { error });
    }
  }

  /** `file` was at `path` with the content of `stamp`. Afterwards `file` no longer exists. */
  async take(file: string, path: string, stamp: FileStamp): Promise<void> {
    const aside = join(this.#options.directory, `${shortNameOf(path)}.${shortId()}`);
    try {
      await this.#move(file, aside);
    } catch (error) {
      // On another file system, or a full one, the version cannot be watched.
      this.#options.log.debug('a replaced file could not be put aside', { path, error });
      await this.#settle(file, path, (now) => sameContent(now, stamp));
      return;
    }
    // The move itself sets the ctime.
    const moved = stampOf(await lstat(aside, { bigint: true }));
    if (!sameContent(moved, stamp)) return await this.keepConflict(aside, path);
    this.#hold(aside, path, moved);
    this.#makeRoom();
  }

  /** Reports it to the log and `onConflict`. */
  async keepConflict(file: string, path: string): Promise<void> {
    const { directory, clock, log, onConflict } = this.#options;
    const time = timestamp(clock.now()).replaceAll(':', '-');
    let copy = `${shortNameOf(path)}${CONFLICT_MARK}${time}`;
    if (statFile(join(directory, copy)) !== null) copy += `-${shortId()}`;
    try {
      await this.#move(file, join(directory, copy));
    } catch (error) {
      if (errnoOf(error) !== 'EXDEV') {
        log.error('a conflicting version of a file could not be kept', { path, error });
        return;
      }
      await copyFile(file, join(directory, copy));
      await unlink(file);
    }
    log.warning('another program wrote to a version of a file that was being replaced', {
      path,
      kept: copy,
    });
    onConflict?.(path, copy);
  }

  /** Checks every watched version now and waits for the deletions. */
  async close(): Promise<void> {
    for (const held of this.#held) this.#settleSoon(held);
    while (this.#settling.size > 0) await Promise.all(this.#settling);
  }

  #hold(file: string, path: string, stamp: FileStamp): void {
    const timer = setTimeout(() => this.#settleSoon(held), this.#options.graceMs ?? GRACE_MS);
    timer.unref();
    const held: Held = { file, path, stamp, timer };
    this.#held.add(held);
    this.#heldBytes += stamp.size;
  }

  #makeRoom(): void {
    const maxBytes = this.#options.maxBytes ?? MAX_BYTES;
    const room = this.#freeBytes() * FREE_SHARE;
    for (const oldest of this.#held) {
      const { size } = this.#held;
      const isTooMuch = size > MAX_FILES || (size > 1 && this.#heldBytes > maxBytes);
      if (!isTooMuch && this.#heldBytes <= room) return;
      this.#settleSoon(oldest);
    }
  }

  #freeBytes(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#options.directory);
      return bavail * bsize;
    } catch {
      // Holding nothing is always safe.
      return 0;
    }
  }

  #settleSoon(held: Held): void {
    clearTimeout(held.timer);
    this.#held.delete(held);
    this.#heldBytes -= held.stamp.size;
    const settled = this.#settle(held.file, held.path, (now) => sameStamp(now, held.stamp));
    this.#settling.add(settled);
    void settled.finally(() => this.#settling.delete(settled));
  }

  async #settle(
    file: string,
    path: string,
    isUnchanged: (now: FileStamp) => boolean,
  ): Promise<void> {
    try {
      if (isUnchanged(stampOf(await lstat(file, { bigint: true })))) await unlink(file);
      else await this.keepConflict(file, path);
    } catch (error) {
      // The published file is not concerned.
      if (!isAbsence(error)) {
        this.#options.log.warning('a replaced file could not be deleted', { path, error });
      }
    }
  }

  async #move(file: string, to: string): Promise<void> {
    if (!this.#directoryExists) {
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
      this.#directoryExists = true;
    }
    await rename(file, to);
  }
}

function shortNameOf(path: string): string {
  return basename(path).slice(0, KEPT_CHARACTERS).toWellFormed();
}
