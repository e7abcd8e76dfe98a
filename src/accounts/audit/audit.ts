/**
 * The audit: who changed what, who was refused.
 *
 * Entries that arrive together share one transaction and its fsync. An entry that cannot be written goes to the log
 * and fails no request. Callers pass no cell values, passwords or keys.
 */
import type { Clock } from '../../base/clock.ts';
import { timestamp } from '../../base/clock.ts';
import { networkOf } from '../../base/ip-network.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../store/database.ts';
import { type ListSource, tableList } from '../../store/list-source.ts';
import { type ChainLink, linkHash, readHead, writeAnchor, writeHead } from './audit-chain.ts';

const WINDOW_MS = 60 * 1000;
/** Per window, for each limited action. */
const MAX_ROWS_PER_ACTION = 600;
/** Of those, for one user, or for one network where nobody is signed in. */
const MAX_ROWS_PER_CALLER = 100;
const PRUNE_ROWS = 1000;

/** Actions an outsider can cause at will; `upload_denied` only while nobody is signed in. */
const LIMITED_ACTIONS: ReadonlySet<string> = new Set([
  'login_failed',
  'permission_denied',
  'open_link',
  'link_password_failed',
]);

export interface AuditNote {
  readonly userId: number | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  /** Null for the command line. */
  readonly ipAddress: string | null;
}

interface AuditOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Marks entries of the command line with ` (cli)`. */
  readonly isCommandLine?: boolean;
}

interface Pending {
  readonly note: AuditNote;
  readonly timestamp: string;
  readonly settle: () => void;
}

/** Limit for names and paths a caller can invent; no existing name is longer. */
const MAX_ASKED_CHARACTERS = 4096;
const REFUSED_ACTIONS: ReadonlySet<string> = new Set([
  ...LIMITED_ACTIONS,
  'upload_denied',
  'upload_failed',
]);

function clipped(text: string | null): string | null {
  if (text === null || text.length <= MAX_ASKED_CHARACTERS) return text;
  return `${text.slice(0, MAX_ASKED_CHARACTERS).toWellFormed()}…`;
}

export class Audit {
  readonly #options: AuditOptions;
  readonly #limiter: RowLimiter;
  #pending: Pending[] = [];
  #writing: Promise<void> | null = null;
  #summing: Timer | undefined;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#limiter = new RowLimiter(options.clock);
  }

  /**
   * Resolves when the entry is durable, given up, or dropped by the rate limit; never throws. Awaited inside a
   * transaction it would wait for itself.
   */
  record(given: AuditNote): Promise<void> {
    const note = REFUSED_ACTIONS.has(given.action)
      ? { ...given, resource: clipped(given.resource), details: clipped(given.details) }
      : given;
    if (!isLimited(note) || this.#limiter.admits(note)) return this.#add(note);
    this.#summing ??= setTimeout(() => this.#sumUp(), WINDOW_MS).unref();
    return Promise.resolve();
  }

  async drain(): Promise<void> {
    this.#sumUp();
    while (this.#writing !== null) await this.#writing;
  }

  #sumUp(): void {
    clearTimeout(this.#summing);
    this.#summing = undefined;
    for (const note of this.#limiter.takeLeftOut()) void this.#add(note);
  }

  #add(note: AuditNote): Promise<void> {
    const { clock, isCommandLine } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    const details =
      isCommandLine === true && note.details !== null ? `${note.details} (cli)` : note.details;
    this.#pending.push({
      note: { ...note, details },
      timestamp: timestamp(clock.now()),
      settle: resolve,
    });
    this.#writing ??= this.#write();
    return promise;
  }

  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      // Other requests of this turn of the event loop join the same transaction.
      await new Promise(setImmediate);
      const batch = this.#pending;
      this.#pending = [];
      await this.#insert(batch);
      for (const { settle } of batch) settle();
    }
    this.#writing = null;
  }

  async #insert(batch: readonly Pending[]): Promise<void> {
    const { db, log } = this.#options;
    try {
      await db.transaction(async (tx) => {
        let head = await readHead(tx);
        for (const pending of batch) head = await insertLinked(tx, head, pending);
        await writeHead(tx, head);
      });
    } catch (error) {
      for (const { note } of batch) log.error('audit entry not written', { ...note, error });
    }
  }
}

/** For what changes in a transaction of its own, which commits with its entry. */
export async function recordWithin(tx: Database, note: AuditNote, now: number): Promise<void> {
  await writeHead(
    tx,
    await insertLinked(tx, await readHead(tx), { note, timestamp: timestamp(now) }),
  );
}

async function insertLinked(
  tx: Database,
  head: ChainLink,
  { note, timestamp }: Omit<Pending, 'settle'>,
): Promise<ChainLink> {
  const { userId: actorId, action, resource, details, ipAddress } = note;
  // The actor may have been deleted meanwhile; the entry stays.
  const { lastId: id } = await tx.run(
    `INSERT INTO audit (timestamp, user_id, actor_id, action, resource, details, ip_address)
     VALUES (?, (SELECT id FROM users WHERE id = ?), ?, ?, ?, ?, ?)`,
    [timestamp, actorId, actorId, action, resource, details, ipAddress],
  );
  const entry = { id, timestamp, actorId, action, resource, details, ipAddress };
  const hash = linkHash(head.hash, entry);
  await tx.run('UPDATE audit SET hash = ? WHERE id = ?', [hash, id]);
  return { id, hash };
}

function isLimited(note: AuditNote): boolean {
  if (note.action === 'upload_denied') return note.userId === null;
  return LIMITED_ACTIONS.has(note.action);
}

interface Allowance {
  rows: number;
  leftOut: number;
  readonly summary: Omit<AuditNote, 'details'>;
}

/**
 * At most one entry a minute for the same event, and rate limits per action and caller; the per-action limits bound
 * the memory.
 */
class RowLimiter {
  readonly #clock: Clock;
  /** When each event was last admitted, oldest first. */
  readonly #admitted = new Map<string, { readonly at: number; readonly used: Allowance[] }>();
  readonly #allowances = new Map<string, Allowance>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  admits(note: AuditNote): boolean {
    const now = this.#clock.monotonic();
    this.#expire(now);
    const key = keyOf(note);
    if (this.#admitted.has(key)) return false;
    const { action, userId, ipAddress } = note;
    const anybody = { action, resource: null, userId: null, ipAddress: null };
    const ofAction = this.#allowance(action, anybody);
    if (ofAction.rows >= MAX_ROWS_PER_ACTION) {
      ofAction.leftOut += 1;
      return false;
    }
    const caller = userId ?? networkOf(ipAddress ?? '', 64);
    const ofCaller = this.#allowance(`${action} ${caller}`, { ...anybody, userId, ipAddress });
    if (ofCaller.rows >= MAX_ROWS_PER_CALLER) {
      ofCaller.leftOut += 1;
      return false;
    }
    const used = [ofAction, ofCaller];
    for (const one of used) one.rows += 1;
    this.#admitted.set(key, { at: now, used });
    return true;
  }

  takeLeftOut(): AuditNote[] {
    const notes: AuditNote[] = [];
    for (const allowance of this.#allowances.values()) {
      const { leftOut, summary } = allowance;
      if (leftOut === 0) continue;
      allowance.leftOut = 0;
      notes.push({ ...summary, details: `${leftOut} more within a minute, not listed one by one` });
    }
    this.#expire(this.#clock.monotonic());
    return notes;
  }

  #allowance(key: string, summary: Allowance['summary']): Allowance {
    let found = this.#allowances.get(key);
    if (found === undefined) {
      found = { rows: 0, leftOut: 0, summary };
      this.#allowances.set(key, found);
    }
    return found;
  }

  #expire(now: number): void {
    for (const [key, { at, used }] of this.#admitted) {
      if (now - at < WINDOW_MS) break;
      this.#admitted.delete(key);
      for (const one of used) one.rows -= 1;
    }
    for (const [key, { rows, leftOut }] of this.#allowances) {
      if (rows === 0 && leftOut === 0) this.#allowances.delete(key);
    }
  }
}

function keyOf(note: AuditNote): string {
  // Details name the user of a failed login and the verb of a denied access; those of an upload are only a reason.
  const details = note.action === 'upload_denied' ? null : note.details;
  return JSON.stringify([note.action, note.userId, note.ipAddress, note.resource, details]);
}

/**
 * Deletes up to the first entry that is not older than `before` (epoch milliseconds), in steps, so that other writers
 * get their turn.
 */
export async function pruneAudit(db: Database, before: number): Promise<number> {
  let pruned = 0;
  for (;;) {
    const removed = await db.transaction((tx) => pruneStep(tx, timestamp(before)));
    pruned += removed;
    if (removed < PRUNE_ROWS) return pruned;
    await new Promise(setImmediate);
  }
}

/** Only the oldest by id, even when a clock was set back: the chain has no gaps. */
async function pruneStep(tx: Database, before: string): Promise<number> {
  const oldest = await tx.all<{ id: number; timestamp: string; hash: string | null }>(
    `SELECT id, timestamp, hash FROM audit ORDER BY id LIMIT ${PRUNE_ROWS}`,
  );
  const firstKept = oldest.findIndex((entry) => entry.timestamp >= before);
  const removed = firstKept < 0 ? oldest : oldest.slice(0, firstKept);
  const last = removed.at(-1);
  if (last === undefined) return 0;
  await tx.run('DELETE FROM audit WHERE id <= ?', [last.id]);
  if (last.hash !== null) await writeAnchor(tx, { id: last.id, hash: last.hash });
  return removed.length;
}

/** One lookup per action, however many entries there are. */
export async function auditActions(db: Database): Promise<string[]> {
  const rows = await db.all<{ action: string }>(
    `WITH RECURSIVE found (action) AS (
       SELECT min(action) FROM audit
       UNION ALL
       SELECT (SELECT min(action) FROM audit WHERE action > found.action) FROM found WHERE found.action IS NOT NULL
     ) SELECT action FROM found WHERE action IS NOT NULL`,
  );
  return rows.map(({ action }) => action);
}

export const auditList: ListSource = {
  ...tableList(
    'audit',
    {
      id: 'integer',
      timestamp: 'date-time',
      user_id: 'integer',
      action: 'string',
      resource: 'string',
      details: 'string',
      ip_address: 'string',
    },
    ['timestamp', 'action', 'resource'],
  ),
  name: 'audit-logs',
  order: 'desc',
};
