/**
 * Tamper evidence for the audit: each entry carries the SHA-256 of its own content and of the entry before it.
 *
 * The newest link is also in the setting `audit_head`, the last pruned one in `audit_anchor`, so a changed, inserted
 * or removed entry is detected at any place. Someone who can write the database can recompute the whole chain;
 * therefore the head is logged at every start and daily, and a copy of the log on another machine reveals that too.
 */
import { sha256Hex } from '../../base/ids.ts';
import type { Database } from '../../store/database.ts';

/** `actorId` stays when the user is deleted. */
interface ChainedEntry {
  readonly id: number;
  readonly timestamp: string;
  readonly actorId: number | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ipAddress: string | null;
}

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

const START: ChainLink = { id: 0, hash: '' };
const PAGE_ROWS = 5_000;

/** 64 hexadecimal digits. */
export function linkHash(previous: string, entry: ChainedEntry): string {
  const { id, timestamp, actorId, action, resource, details, ipAddress } = entry;
  return sha256Hex(
    JSON.stringify([previous, id, timestamp, actorId, action, resource, details, ipAddress]),
  );
}

/** Only inside the transaction that appends to the chain. */
export async function readHead(tx: Database): Promise<ChainLink> {
  return (await readLink(tx, 'audit_head')) ?? START;
}

export async function writeHead(tx: Database, link: ChainLink): Promise<void> {
  await writeLink(tx, 'audit_head', link);
}

/** Records the last pruned entry, so that the rest can still be verified. */
export async function writeAnchor(tx: Database, link: ChainLink): Promise<void> {
  await writeLink(tx, 'audit_anchor', link);
}

/** The first bad entry; null when there is none. Reads the whole audit in pages. */
export async function findTampering(db: Database): Promise<string | null> {
  for (;;) {
    const anchor = await readAnchor(db);
    const finding = await findingBehind(db, anchor);
    // A server pruned meanwhile; check again from the new anchor.
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
      // Others write while this reads.
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
