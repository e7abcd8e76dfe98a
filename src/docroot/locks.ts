/**
 * One writer per file: a row in the state database.
 *
 * Row ids are never reused, so a lock that was released or taken over is noticed. Waiters of this process form a
 * queue; only the first asks the database, at growing intervals, because other processes may share it.
 */
import type { Clock } from '../base/clock.ts';
import { timestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../store/database.ts';
import { type ListSource, tableList } from '../store/list-source.ts';

const RETRY_MS = [100, 200, 400, 800, 1000] as const;
const MIN_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 30;
/** An older lock is stale whatever its heartbeat says. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;
const DELETE_RETRY_MS = 1000;

export type LockReason =
  | `write:${'create' | 'update' | 'delete' | 'upsert' | 'batch' | 'companion'}`
  | 'upload'
  | 'move'
  | 'trash'
  | 'client';

export interface HeldLock {
  readonly id: number;
  /** Throws `conflict` (`Lock on '<rel>' was lost`) when the lock is no longer held; call right before the rename. */
  check(): Promise<void>;
  /** Also when the lock was lost; may be called again. Never throws. */
  release(): Promise<void>;
}

interface LockRequest {
  readonly resource: string;
  readonly owner: string;
  readonly reason: LockReason;
  /** Ms of the waiting time already spent in another queue; a free lock is still given. */
  readonly waitedMs?: number;
  /** The caller holds what `guardedBy` tells of. */
  readonly isGuardHeld?: boolean;
}

interface FileLocksOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** A function, since the configuration may change while running. */
  readonly limits: () => { readonly ttlMs: number; readonly timeoutMs: number };
}

export class FileLocks {
  readonly #options: FileLocksOptions;
  readonly #queues = new Map<string, Waiter[]>();
  readonly #held = new Set<HeldLock>();
  #timeouts = 0;
  /** Who holds a lock on a folder around it; null: nobody. */
  guardedBy: (resource: string) => string | null = () => null;

  constructor(options: FileLocksOptions) {
    this.#options = options;
  }

  /** Throws `locked` (`Resource '<rel>' is locked by <owner>`, with `Retry-After`) after the waiting time. */
  async acquire(request: LockRequest): Promise<HeldLock> {
    const queue = this.#queues.get(request.resource) ?? [];
    this.#queues.set(request.resource, queue);
    const waiter = new Waiter();
    queue.push(waiter);
    try {
      return await this.#wait(request, queue, waiter);
    } finally {
      const wasFirst = queue[0] === waiter;
      queue.splice(queue.indexOf(waiter), 1);
      if (wasFirst) queue[0]?.wake();
      if (queue.length === 0) this.#queues.delete(request.resource);
    }
  }

  stats(): { readonly held: number; readonly timeouts: number } {
    return { held: this.#held.size, timeouts: this.#timeouts };
  }

  /** Of files below a folder; null when none is held. */
  async heldBelow(folder: string): Promise<{ readonly resource: string } | null> {
    return this.#options.db.get<{ resource: string }>(
      // Zero follows the slash.
      'SELECT resource FROM locks WHERE resource >= ? AND resource < ? AND expires_at > ? ORDER BY resource LIMIT 1',
      [`${folder}/`, `${folder}0`, timestamp(this.#options.clock.now())],
    );
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.#held].map((lock) => lock.release()));
  }

  async #wait(request: LockRequest, queue: Waiter[], waiter: Waiter): Promise<HeldLock> {
    const { clock, limits } = this.#options;
    const deadline = clock.monotonic() + limits().timeoutMs - (request.waitedMs ?? 0);
    for (let attempts = 0; ;) {
      const isLast = clock.monotonic() >= deadline;
      const isFirst = queue[0] === waiter;
      if (isFirst || isLast) {
        const guard = request.isGuardHeld === true ? null : this.guardedBy(request.resource);
        if (guard !== null && isLast) throw this.#lockedBy(request.resource, guard, null);
        const id = guard === null ? await this.#take(request) : null;
        if (id !== null) return this.#hold(request, id);
      }
      if (isLast) {
        const refusal = await this.#refusal(request.resource);
        if (refusal === null) continue;
        this.#timeouts += 1;
        throw refusal;
      }
      const remaining = Math.max(0, deadline - clock.monotonic());
      const pause = RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)] ?? 0;
      if (isFirst) attempts++;
      await waiter.pause(isFirst ? Math.min(pause, remaining) : remaining);
    }
  }

  /** The new row's id; null while another holder has an unexpired row. */
  async #take(request: LockRequest): Promise<number | null> {
    const { clock, limits } = this.#options;
    const db = this.#options.db.relaxed;
    const now = clock.now();
    const insert = async () => {
      const { changes, lastId } = await db.run(
        `INSERT INTO locks (resource, owner, acquired_at, expires_at, reason) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (resource) DO NOTHING`,
        [
          request.resource,
          request.owner,
          timestamp(now),
          timestamp(now + limits().ttlMs),
          request.reason,
        ],
      );
      return changes > 0 ? lastId : null;
    };
    const id = await insert();
    if (id !== null) return id;
    const { changes } = await db.run('DELETE FROM locks WHERE resource = ? AND expires_at <= ?', [
      request.resource,
      timestamp(now),
    ]);
    return changes > 0 ? insert() : null;
  }

  #hold({ resource }: LockRequest, id: number): HeldLock {
    const lock = new RowLock(this.#options, resource, id, () => {
      this.#held.delete(lock);
      this.#queues.get(resource)?.[0]?.wake();
    });
    this.#held.add(lock);
    return lock;
  }

  async #refusal(resource: string): Promise<AppError | null> {
    const row = await this.#options.db.get<{ owner: string; expires_at: string }>(
      'SELECT owner, expires_at FROM locks WHERE resource = ?',
      [resource],
    );
    return row === null ? null : this.#lockedBy(resource, row.owner, row.expires_at);
  }

  #lockedBy(resource: string, owner: string, expiresAt: string | null): AppError {
    const left = expiresAt === null ? Infinity : Date.parse(expiresAt) - this.#options.clock.now();
    const seconds = Math.ceil(left / 1000);
    const retryAfter = Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, seconds));
    return new AppError('locked', `Resource '${resource}' is locked by ${owner}`, {
      headers: { 'Retry-After': String(retryAfter) },
    });
  }
}

class Waiter {
  #isWoken = false;
  #stopPause: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#stopPause?.();
  }

  async pause(ms: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#stopPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#stopPause = null;
    }
    this.#isWoken = false;
  }
}

class RowLock implements HeldLock {
  readonly id: number;
  readonly #options: FileLocksOptions;
  readonly #resource: string;
  readonly #onRelease: () => void;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  #isReleased = false;

  constructor(options: FileLocksOptions, resource: string, id: number, onRelease: () => void) {
    this.id = id;
    this.#options = options;
    this.#resource = resource;
    this.#onRelease = onRelease;
    this.#heartbeat = setInterval(() => void this.#beat(), options.limits().ttlMs / 3);
    this.#heartbeat.unref();
  }

  async check(): Promise<void> {
    // It succeeds only while the row is ours, and an expired row is ours until it is taken.
    if (this.#isReleased || !(await this.#prolong())) {
      throw new AppError('conflict', `Lock on '${this.#resource}' was lost`);
    }
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearInterval(this.#heartbeat);
    const { clock, limits } = this.#options;
    await this.#deleteRow(clock.monotonic() + limits().ttlMs);
    this.#onRelease();
  }

  async #prolong(): Promise<boolean> {
    const { db, clock, limits } = this.#options;
    const { changes } = await db.relaxed.run('UPDATE locks SET expires_at = ? WHERE id = ?', [
      timestamp(clock.now() + limits().ttlMs),
      this.id,
    ]);
    return changes > 0;
  }

  async #beat(): Promise<void> {
    try {
      await this.#prolong();
    } catch (error) {
      this.#options.log.warning('lock not prolonged', { resource: this.#resource, error });
    }
  }

  async #deleteRow(giveUpAt: number): Promise<void> {
    const { db, clock, log } = this.#options;
    try {
      await db.relaxed.run('DELETE FROM locks WHERE id = ?', [this.id]);
    } catch (error) {
      // A full disk. Without another try the row would lock the file until it expires.
      log.warning('lock row not deleted', { resource: this.#resource, error });
      if (clock.monotonic() >= giveUpAt) return;
      setTimeout(() => void this.#deleteRow(giveUpAt), DELETE_RETRY_MS).unref();
    }
  }
}

export async function releaseLock(db: Database, id: number): Promise<boolean> {
  return (await db.relaxed.run('DELETE FROM locks WHERE id = ?', [id])).changes > 0;
}

/** Expired, or older than 24 h; returns how many. `now` is epoch ms. */
export async function cleanStaleLocks(db: Database, now: number): Promise<number> {
  const { changes } = await db.relaxed.run(
    'DELETE FROM locks WHERE expires_at <= ? OR acquired_at < ?',
    [timestamp(now), timestamp(now - STALE_AFTER_MS)],
  );
  return changes;
}

/** Only at start: the lock on the state directory proves that no other server runs. */
export async function clearLocks(db: Database): Promise<number> {
  return (await db.relaxed.run('DELETE FROM locks')).changes;
}

export const lockList: ListSource = tableList(
  'locks',
  {
    id: 'integer',
    resource: 'string',
    owner: 'string',
    acquired_at: 'date-time',
    expires_at: 'date-time',
    reason: 'string',
  },
  ['id', 'resource', 'owner', 'acquired_at', 'expires_at', 'reason'],
);
