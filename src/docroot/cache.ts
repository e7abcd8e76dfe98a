/**
 * What is remembered of published files for faster answers, as administrators see and clear it (DS-142, DS-143).
 *
 * Only a list of what there is: the remembered things live with those who made them, each checked against its file on every
 * read. Typed copies stay on the disk when an entry goes, because they carry the ids of the rows (DS-48).
 */
import type { Clock } from '../base/clock.ts';
import { timestamp } from '../base/clock.ts';
import type { ListSource } from '../store/list-source.ts';

/** Lifetimes of entries in ms, by the first part of their key (DS-142). */
const LIFETIMES = {
  data: 300_000,
  schema: 3_600_000,
  html: 600_000,
  markdown: 600_000,
  media_meta: 1_800_000,
} as const;
/** Past this the oldest are forgotten. */
const MAX_ENTRIES = 10_000;

/** What an entry remembers. */
export type CacheKind = keyof typeof LIFETIMES;

interface Entry {
  readonly resource: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** Told to forget everything about a file, or with null about all. */
export type ForgetListener = (rel: string | null) => void;

/** The entries of one server. */
export class CacheEntries {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: ForgetListener[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has `listener` forget what it remembers when an administrator clears the cache. */
  onForget(listener: ForgetListener): void {
    this.#listeners.push(listener);
  }

  /** Notes that something was remembered of the file `rel`; of what is noted already the time goes on. Costs 1 µs. */
  note(kind: CacheKind, rel: string, rest = ''): void {
    const key = `${kind}:${rel}${rest}`;
    const now = this.#clock.now();
    const known = this.#entries.get(key);
    if (known !== undefined && known.expiresAt > now) return;
    this.#entries.delete(key);
    this.#entries.set(key, { resource: rel, expiresAt: now + LIFETIMES[kind] });
    if (this.#entries.size > MAX_ENTRIES) {
      const [oldest] = this.#entries.keys();
      this.#entries.delete(oldest!);
    }
  }

  /** The file was changed or is gone: its entries no longer hold. */
  drop(rel: string): void {
    for (const [key, { resource }] of this.#entries) {
      if (resource === rel) this.#entries.delete(key);
    }
  }

  /** Forgets one entry; false when there is none of that key and file. */
  delete(key: string, rel: string): boolean {
    if (this.#entries.get(key)?.resource !== rel) return false;
    this.#entries.delete(key);
    for (const forget of this.#listeners) forget(rel);
    return true;
  }

  /** Forgets everything about a file, or with null about all. */
  clear(rel: string | null): void {
    if (rel === null) this.#entries.clear();
    else this.drop(rel);
    for (const forget of this.#listeners) forget(rel);
  }

  /** The entries that have not expired, as a list in the order they were made. */
  list(): ListSource {
    const now = this.#clock.now();
    const live = [...this.#entries].filter(([, { expiresAt }]) => expiresAt > now);
    const entries = live.map(([key, { resource, expiresAt }]) => [
      key,
      timestamp(expiresAt),
      resource,
    ]);
    return {
      name: 'cache',
      from: 'json_each(?) AS entry',
      params: [JSON.stringify(entries)],
      id: 'entry.key + 1',
      columns: [
        { name: 'key', type: 'string', sql: 'entry.value ->> 0' },
        { name: 'expires_at', type: 'date-time', sql: 'entry.value ->> 1' },
        { name: 'resource', type: 'string', sql: 'entry.value ->> 2' },
        { name: 'user', type: 'string', sql: 'NULL' },
      ],
      sortable: ['key', 'expires_at', 'resource', 'user'],
      order: 'asc',
    };
  }
}
