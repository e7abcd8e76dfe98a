/**
 * Locks that a client holds from one request to the next (WebDAV, RFC 4918): each is a row of the file locks too, so
 * that edits by other doors are refused while it lasts. One on a folder covers all below it.
 *
 * They live in this process and end with it, as the rows do. A token alone opens nothing: it is its owner's.
 */
import { AppError } from '../base/errors.ts';
import { Mutex } from '../base/scheduling/semaphore.ts';
import { isAtOrBelow } from './document-root.ts';
import type { FileLocks, HeldLock, LockReason } from './locks.ts';

export interface ClientLock {
  readonly token: string;
  readonly rel: string;
  /** Of a folder: also all below it. */
  readonly isDeep: boolean;
  readonly isShared: boolean;
  readonly userId: number;
  readonly username: string;
  /** What the client says of itself, as markup. */
  readonly note: string;
  readonly seconds: number;
}

interface Held extends ClientLock {
  readonly timer: Timer;
  readonly row: Row;
}

/** The row of a locked path, which several shared locks may have together. */
interface Row {
  readonly lock: HeldLock;
  readonly turn: Mutex;
  holders: number;
}

export const MAX_LOCK_SECONDS = 3_600;
const MAX_LOCKS_OF_USER = 1_000;

type LockWish = Omit<ClientLock, 'token'>;

export class ClientLocks {
  readonly #locks: FileLocks;
  readonly #held = new Map<string, Held>();
  readonly #rows = new Map<string, Row>();

  constructor(locks: FileLocks) {
    this.#locks = locks;
    locks.guardedBy = (rel) => this.covering(rel).find((one) => one.rel !== rel)?.username ?? null;
  }

  /** Throws `locked`, naming who holds it, and `throttled`. */
  async lock(wish: LockWish): Promise<ClientLock> {
    const others = [
      ...this.covering(wish.rel),
      ...(wish.isDeep ? this.#below(wish.rel) : []),
    ].filter((one) => !(one.isShared && wish.isShared));
    if (others.length > 0) throw lockedBy(wish.rel, others[0]!.username);
    const own = [...this.#held.values()].filter(({ userId }) => userId === wish.userId);
    if (own.length >= MAX_LOCKS_OF_USER) {
      throw new AppError('throttled', `A user holds at most ${MAX_LOCKS_OF_USER} locks`);
    }
    const row = await this.#rowOf(wish);
    row.holders++;
    const token = `urn:uuid:${crypto.randomUUID()}`;
    return this.#keep({ ...wish, token }, row);
  }

  async #rowOf({ rel, username }: LockWish): Promise<Row> {
    const known = this.#rows.get(rel);
    if (known !== undefined) return known;
    const waitedMs = Number.POSITIVE_INFINITY;
    const lock = await this.#locks.acquire({
      resource: rel,
      owner: username,
      reason: 'client',
      waitedMs,
      isGuardHeld: true,
    });
    const row = { lock, turn: new Mutex(), holders: 0 };
    this.#rows.set(rel, row);
    return row;
  }

  #keep(lock: ClientLock, row: Row): ClientLock {
    clearTimeout(this.#held.get(lock.token)?.timer);
    const timer = setTimeout(() => void this.release(lock.token), lock.seconds * 1000);
    timer.unref();
    this.#held.set(lock.token, { ...lock, timer, row });
    return lock;
  }

  /** Null for a token that is not this user's, or not of this path. */
  refresh(token: string, rel: string, userId: number, seconds: number): ClientLock | null {
    const held = this.#held.get(token);
    if (held?.userId !== userId || !covers(held, rel)) return null;
    const { row, timer: _, ...lock } = held;
    return this.#keep({ ...lock, seconds }, row);
  }

  find(token: string): ClientLock | null {
    return this.#held.get(token) ?? null;
  }

  async release(token: string): Promise<void> {
    const held = this.#held.get(token);
    if (held === undefined) return;
    clearTimeout(held.timer);
    this.#held.delete(token);
    held.row.holders--;
    if (held.row.holders > 0) return;
    this.#rows.delete(held.rel);
    await held.row.lock.release();
  }

  /** The file or folder is gone from there. */
  async releaseAt(rel: string): Promise<void> {
    for (const { token, ...held } of [...this.#held.values()]) {
      if (isAtOrBelow(held.rel, rel)) await this.release(token);
    }
  }

  /** Locks on the path itself, and deep ones above it. */
  covering(rel: string): ClientLock[] {
    return [...this.#held.values()].filter((held) => covers(held, rel));
  }

  #below(rel: string): ClientLock[] {
    return [...this.#held.values()].filter((held) => isBelow(held.rel, rel));
  }

  /**
   * Throws `locked` unless the user named a token of each lock in the way of a change of `rel` (of shared ones any),
   * with all below it where that changes too.
   */
  requireTokens(
    rel: string,
    {
      tokens,
      userId,
      isDeep,
    }: { readonly tokens: ReadonlySet<string>; readonly userId: number; readonly isDeep: boolean },
  ): void {
    const isOwn = (lock: ClientLock): boolean => lock.userId === userId && tokens.has(lock.token);
    const groups = Map.groupBy(
      [...this.covering(rel), ...(isDeep ? this.#below(rel) : [])],
      (lock) => lock.rel,
    );
    for (const locks of groups.values()) {
      if (!locks.some(isOwn)) throw lockedBy(locks[0]!.rel, locks[0]!.username);
    }
  }

  /** For a change whose tokens `requireTokens` has seen: as `FileLocks.acquire`, or in turn under the client's own lock. */
  async acquire(rel: string, owner: string, reason: LockReason): Promise<HeldLock> {
    const row = this.#rows.get(rel);
    if (row === undefined) {
      return this.#locks.acquire({ resource: rel, owner, reason, isGuardHeld: true });
    }
    const turn = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    void row.turn.run(() => {
      begun.resolve();
      return turn.promise;
    });
    await begun.promise;
    return {
      id: row.lock.id,
      check: () => row.lock.check(),
      release: async () => turn.resolve(),
    };
  }

  has(rel: string): boolean {
    return this.#rows.has(rel);
  }
}

function covers(lock: ClientLock, rel: string): boolean {
  return lock.rel === rel || (lock.isDeep && isBelow(rel, lock.rel));
}

/** The root is `''`. */
function isBelow(rel: string, folder: string): boolean {
  return rel !== folder && (folder === '' || rel.startsWith(`${folder}/`));
}

function lockedBy(rel: string, owner: string): AppError {
  return new AppError('locked', `Resource '${rel}' is locked by ${owner}`, {
    headers: { 'Retry-After': '30' },
  });
}
