/**
 * What is cached of published files, as administrators see and clear it. Typed copies stay on disk, because they hold
 * the row ids.
 */
import type { Clock } from '../base/clock.ts';
import { timestamp } from '../base/clock.ts';
import type { ListSource } from '../store/list-source.ts';

/** Lifetimes in ms, by the first part of the key. */
const LIFETIMES = {
  data: 300_000,
  schema: 3_600_000,
  html: 600_000,
  markdown: 600_000,
  media_meta: 1_800_000,
} as const;
const MAX_ENTRIES = 10_000;

export type CacheKind = keyof typeof LIFETIMES;

interface CacheEntry {
  readonly resource: string;
  readonly expiresAt: number;
}

/** Null: all files. */
type ForgetListener = (rel: string | null) => void;

export class CacheEntries {
  readonly #clock: Clock;
  readonly #entries = new Map<string, CacheEntry>();
  readonly #listeners: ForgetListener[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onForget(listener: ForgetListener): void {
    this.#listeners.push(listener);
  }

  /** An existing entry keeps its expiry. Costs 1 µs. */
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

  drop(rel: string): void {
    for (const [key, { resource }] of this.#entries) {
      if (resource === rel) this.#entries.delete(key);
    }
  }

  /** False when no entry has that key and file. */
  delete(key: string, rel: string): boolean {
    if (this.#entries.get(key)?.resource !== rel) return false;
    this.#entries.delete(key);
    for (const forget of this.#listeners) forget(rel);
    return true;
  }

  /** Null: all files. */
  clear(rel: string | null): void {
    if (rel === null) this.#entries.clear();
    else this.drop(rel);
    for (const forget of this.#listeners) forget(rel);
  }

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
