/**
 * Evidence against tampering with the audit: each entry carries the SHA-256 of its own content and of the entry before it.
 *
 * The newest link also stands in the setting `audit_head` and, once pruned, the last removed one in `audit_anchor`; so an entry
 * that was changed, put in between, or removed at any place is noticed. Somebody who may write the database can of course
 * compute the whole chain anew: the head is logged at every start and daily, and a copy of the log outside this machine
 * shows that too.
 */
import { sha256Hex } from '../base/ids.ts';
import type { Database } from '../store/database.ts';

/** What the hash of an entry covers. `actorId` stays when the user is deleted (DS-139). */
interface ChainedEntry {
  readonly id: number;
  readonly timestamp: string;
  readonly actorId: number | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ipAddress: string | null;
}

/** The end of the chain. */
export interface ChainLink {
  readonly id: number;
  readonly hash: string;
}

interface StoredEntry {
  readonly id: number;
  readonly timestamp: string;
  readonly user_id: number | null;
  readonly actor_id: number | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ip_address: string | null;
  readonly hash: string | null;
}

/** Before there was an entry. */
const START: ChainLink = { id: 0, hash: '' };
const PAGE_ROWS = 5_000;

/** The hash of an entry that follows `previous`: 64 hexadecimal digits. */
export function linkHash(previous: string, entry: ChainedEntry): string {
  const { id, timestamp, actorId, action, resource, details, ipAddress } = entry;
  return sha256Hex(
    JSON.stringify([previous, id, timestamp, actorId, action, resource, details, ipAddress]),
  );
}

/** The newest link; inside the transaction that appends to the chain. */
export async function readHead(tx: Database): Promise<ChainLink> {
  return (await readLink(tx, 'audit_head')) ?? START;
}

/** Makes a link the newest; in the transaction that wrote its entry. */
export async function writeHead(tx: Database, link: ChainLink): Promise<void> {
  await writeLink(tx, 'audit_head', link);
}

/** Remembers the last entry that pruning removes, so that the rest can still be checked; in the same transaction. */
export async function writeAnchor(tx: Database, link: ChainLink): Promise<void> {
  await writeLink(tx, 'audit_anchor', link);
}

/** What is wrong with the audit, naming the first bad entry; null: nothing. Reads all of it, in pages. */
export async function findTampering(db: Database): Promise<string | null> {
  for (;;) {
    const anchor = await readAnchor(db);
    const finding = await findingBehind(db, anchor);
    // A server that prunes meanwhile removes what is looked for from here on; the next look starts where it has ended.
    if (finding === null || (await readAnchor(db)).id === anchor.id) return finding;
  }
}

async function findingBehind(db: Database, anchor: ChainLink): Promise<string | null> {
  let head = await readLink(db, 'audit_head');
  let previous = anchor;
  const lastUnchained = await readNumber(db, 'audit_unchained');
  let after = 0;
  for (;;) {
    const rows = await db.all<StoredEntry>(
      `SELECT id, timestamp, user_id, actor_id, action, resource, details, ip_address, hash FROM audit
       WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}`,
      [after],
    );
    for (const row of rows) {
      after = row.id;
      if (row.id <= lastUnchained) continue;
      // Others go on writing while this reads.
      if (head === null || row.id > head.id) head = await readLink(db, 'audit_head');
      if (head === null) return 'the record of the newest entry is missing';
      if (row.id > head.id) return `entry ${row.id} was not written by svc`;
      const problem = problemOf(row, previous);
      if (problem !== null) return problem;
      previous = { id: row.id, hash: row.hash ?? '' };
    }
    if (rows.length < PAGE_ROWS) break;
    await new Promise(setImmediate);
  }
  if (head === null) return null;
  if (previous.id === head.id) return previous.hash === head.hash ? null : changed(head.id);
  return `entries after ${previous.id} were removed; the last one was ${head.id}`;
}

function problemOf(row: StoredEntry, previous: ChainLink): string | null {
  const actorId = row.actor_id;
  if (row.user_id !== null && row.user_id !== actorId) return changed(row.id);
  const entry = { ...row, actorId, ipAddress: row.ip_address };
  if (row.hash === linkHash(previous.hash, entry)) return null;
  return row.id === previous.id + 1
    ? changed(row.id)
    : `entry ${row.id} does not follow entry ${previous.id}: entries between were removed, or it was changed`;
}

function changed(id: number): string {
  return `entry ${id} was changed after it was written, or one before it was`;
}

/** The last entry that was pruned. */
async function readAnchor(db: Database): Promise<ChainLink> {
  return (await readLink(db, 'audit_anchor')) ?? START;
}

async function readLink(db: Database, name: string): Promise<ChainLink | null> {
  const row = await db.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', [name]);
  const [, id, hash] = /^(\d+) ([0-9a-f]{64})$/.exec(row?.value ?? '') ?? [];
  return id === undefined || hash === undefined ? null : { id: Number(id), hash };
}

async function writeLink(tx: Database, name: string, { id, hash }: ChainLink): Promise<void> {
  await tx.run(
    `INSERT INTO settings (name, value) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, `${id} ${hash}`],
  );
}

async function readNumber(db: Database, name: string): Promise<number> {
  const row = await db.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', [name]);
  return Number(row?.value ?? 0);
}
