/**
 * What was answered to changes that came with an `Idempotency-Key`, so that a repeat changes nothing.
 *
 * The key is written down before the change is made: when the process ends in between, nobody knows whether it was
 * made, and a repeat is told so. Bounded in number, bytes and age; the oldest go first.
 */
import { timestamp } from '../base/clock.ts';
import type { Database } from './database.ts';

const MAX_REPLIES = 10_000;
const MAX_BYTES = 64 * 2 ** 20;
/** Looking costs a scan of the figures of all. */
const PRUNE_EVERY = 100;

/** One user's key for one method and path. */
export interface ReplyKey {
  readonly userId: number;
  readonly route: string;
  readonly key: string;
}

export interface KeptReply {
  readonly requestHash: string;
  /** Null while the change is being made, and for ever when the process ended meanwhile. */
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  } | null;
}

export class KeptReplies {
  readonly #db: Database;
  #begun = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  async find({ userId, route, key }: ReplyKey): Promise<KeptReply | null> {
    const row = await this.#db.get<{
      request_hash: string;
      status: number | null;
      headers: string | null;
      body: string | null;
    }>(
      `SELECT request_hash, status, headers, body FROM kept_replies WHERE user_id = ? AND route = ? AND key = ?`,
      [userId, route, key],
    );
    if (row === null) return null;
    const { status, body } = row;
    const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
    return {
      requestHash: row.request_hash,
      answer: status === null ? null : { status, headers, body },
    };
  }

  /** `keptSince`: what is older, in milliseconds of the epoch, is forgotten. */
  async begin(
    { userId, route, key }: ReplyKey,
    requestHash: string,
    { now, keptSince }: { readonly now: number; readonly keptSince: number },
  ): Promise<void> {
    if (this.#begun++ % PRUNE_EVERY === 0) await this.#prune(keptSince);
    await this.#db.run(
      'INSERT INTO kept_replies (user_id, route, key, request_hash, created_at) VALUES (?, ?, ?, ?, ?)',
      [userId, route, key, requestHash, timestamp(now)],
    );
  }

  async finish(
    { userId, route, key }: ReplyKey,
    { status, headers, body }: NonNullable<KeptReply['answer']>,
  ): Promise<void> {
    const head = JSON.stringify(headers);
    await this.#db.run(
      `UPDATE kept_replies SET status = ?, headers = ?, body = ?, size = ? WHERE user_id = ? AND route = ? AND key = ?`,
      [status, head, body, head.length + (body?.length ?? 0), userId, route, key],
    );
  }

  /** Nothing was changed. */
  async forget({ userId, route, key }: ReplyKey): Promise<void> {
    await this.#db.run('DELETE FROM kept_replies WHERE user_id = ? AND route = ? AND key = ?', [
      userId,
      route,
      key,
    ]);
  }

  async #prune(keptSince: number): Promise<void> {
    await this.#db.relaxed.run(
      `DELETE FROM kept_replies WHERE created_at < ? OR id IN (
        SELECT id FROM (
          SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS bytes
          FROM kept_replies WINDOW newest AS (ORDER BY id DESC)
        ) WHERE place > ${MAX_REPLIES} OR bytes > ${MAX_BYTES}
      )`,
      [timestamp(keptSince)],
    );
  }
}
