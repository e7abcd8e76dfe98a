/**
 * The audit: who changed what, who was refused (DS-140, DS-141).
 *
 * Entries that arrive together share one transaction, so an audited change costs a share of an fsync. An entry that cannot be
 * written goes to the log and fails nobody. Callers pass no cell values, passwords or keys.
 */
import type { Clock } from '../base/clock.ts';
import { timestamp } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../store/database.ts';
import type { ListSource } from '../store/list-source.ts';
import { type ChainLink, linkHash, readHead, writeAnchor, writeHead } from './audit-chain.ts';

const WINDOW_MS = 60 * 1000;
/** Of the limited actions together, per window (DS-141). */
const MAX_LIMITED_ROWS = 600;
const PRUNE_ROWS = 1000;

/** Actions an outsider can cause as often as he likes; `upload_denied` only while nobody is signed in. */
const LIMITED_ACTIONS: ReadonlySet<string> = new Set(['login_failed', 'permission_denied']);

/** What happened, before it has an id and a time. */
export interface AuditNote {
  /** The actor; null when nobody is signed in. */
  readonly userId: number | null;
  /** One of the actions of DS-140 or of the event contract. */
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  /** Client address (DS-204); null for the command line. */
  readonly ipAddress: string | null;
}

interface AuditOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Marks entries of the command line with ` (cli)` (DS-141). */
  readonly isCommandLine?: boolean;
}

interface Pending {
  readonly note: AuditNote;
  readonly timestamp: string;
  readonly settle: () => void;
}

/** Of a name that anybody may ask for in vain; longer than any that exists. */
const MAX_ASKED_CHARACTERS = 4096;

function clipped(text: string | null): string | null {
  if (text === null || text.length <= MAX_ASKED_CHARACTERS) return text;
  return `${text.slice(0, MAX_ASKED_CHARACTERS).toWellFormed()}…`;
}

/** Writes the audit of one process. */
export class Audit {
  readonly #options: AuditOptions;
  readonly #limiter: RowLimiter;
  #pending: Pending[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#limiter = new RowLimiter(options.clock);
  }

  /**
   * Resolves when the entry is durable, given up, or left out by the limits of DS-141. Never throws. Not to be awaited
   * inside a transaction: it waits for its own.
   */
  record(note: AuditNote): Promise<void> {
    if (isLimited(note) && !this.#limiter.admits(note)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const details =
      this.#options.isCommandLine && note.details !== null ? `${note.details} (cli)` : note.details;
    this.#pending.push({
      note: {
        ...note,
        resource: isLimited(note) ? clipped(note.resource) : note.resource,
        details,
      },
      timestamp: timestamp(this.#options.clock.now()),
      settle: resolve,
    });
    this.#writing ??= this.#write();
    return promise;
  }

  /** Resolves when everything recorded so far is written or given up; for shutdown. */
  async drain(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      // Lets the other requests of this turn of the event loop add theirs.
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

/** Stores an entry behind `head` and answers the new head. */
async function insertLinked(
  tx: Database,
  head: ChainLink,
  { note, timestamp }: Pending,
): Promise<ChainLink> {
  const { userId: actorId, action, resource, details, ipAddress } = note;
  // The actor may have been deleted meanwhile; the entry stays (DS-139).
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

/** One row a minute for the same doing, MAX_LIMITED_ROWS a minute in all, which also bounds the memory. */
class RowLimiter {
  readonly #clock: Clock;
  /** When each doing was last admitted, oldest first. */
  readonly #admitted = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  admits(note: AuditNote): boolean {
    const now = this.#clock.monotonic();
    for (const [key, at] of this.#admitted) {
      if (now - at < WINDOW_MS) break;
      this.#admitted.delete(key);
    }
    const key = keyOf(note);
    if (this.#admitted.has(key) || this.#admitted.size >= MAX_LIMITED_ROWS) return false;
    this.#admitted.set(key, now);
    return true;
  }
}

function keyOf(note: AuditNote): string {
  // The details name the user of a failed login and the verb of a denied access; those of an upload are only a reason.
  const details = note.action === 'upload_denied' ? null : note.details;
  return JSON.stringify([note.action, note.userId, note.ipAddress, note.resource, details]);
}

/**
 * Deletes the entries before the first one that is not older than `before` (epoch milliseconds) and answers how many. In
 * steps, so that other writers get their turn in between.
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

/** The oldest entries only, whatever a clock that was set back made of the order of time: the chain stays whole. */
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

/** The actions that occur in the audit, by name; costs a look-up each, however many entries there are. */
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

/** The audit as administrators list it (DS-134), newest first. */
export const auditList: ListSource = {
  name: 'audit-logs',
  from: 'audit',
  id: 'id',
  columns: [
    { name: 'id', type: 'integer', sql: 'id' },
    { name: 'timestamp', type: 'date-time', sql: 'timestamp' },
    { name: 'user_id', type: 'integer', sql: 'user_id' },
    { name: 'action', type: 'string', sql: 'action' },
    { name: 'resource', type: 'string', sql: 'resource' },
    { name: 'details', type: 'string', sql: 'details' },
    { name: 'ip_address', type: 'string', sql: 'ip_address' },
  ],
  sortable: ['timestamp', 'action', 'resource'],
  order: 'desc',
};
