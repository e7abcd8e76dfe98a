/**
 * Where a page ended, as a token for the client.
 *
 * A keyset: the sort values and the row id of the last row, so that writes elsewhere make the next page neither skip
 * nor repeat rows. Opaque, not secret: a forged one only names another place in the same list.
 */
import { AppError } from '../../base/errors.ts';
import type { PlanValue } from './sql-part.ts';

/** All sort texts together: a cursor travels in a request head, and one cell may have a million characters. */
const MAX_KEY_CHARACTERS = 4_096;

/** A long text is kept as its beginning and found again through its row. */
export type CursorKey = PlanValue | { readonly prefix: string };

export interface Cursor {
  /** One per sort term. */
  readonly keys: readonly CursorKey[];
  readonly rowId: number;
}

/** What a list must share with the list of the cursor. */
export interface CursorScope {
  /** A resource or an admin route. */
  readonly list: string;
  readonly filter: string;
  readonly q: readonly string[];
  /** Names of the sort columns with their directions. */
  readonly sort: readonly { readonly name: string; readonly descending: boolean }[];
  readonly order: 'asc' | 'desc';
}

/** Lists with the same digest accept each other's cursors. */
export function cursorDigest({ list, filter, q, sort, order }: CursorScope): string {
  const terms = sort.map(({ name, descending }) => [name, descending]);
  const text = JSON.stringify([list, filter, q, terms, order]);
  return Bun.CryptoHasher.hash('sha256', text, 'base64url').slice(0, 16);
}

export function encodeCursor(digest: string, { keys, rowId }: Cursor): string {
  const room = Math.max(32, Math.floor(MAX_KEY_CHARACTERS / Math.max(1, keys.length)));
  const short = keys.map((key) =>
    typeof key === 'string' && key.length > room ? { prefix: cut(key, room) } : key,
  );
  return Buffer.from(JSON.stringify([digest, rowId, ...short])).toString('base64url');
}

/** Null without one. Throws `invalid-query` (`Invalid cursor`) for any other token, and beside an offset. */
export function cursorOf(
  { cursor, offset }: { readonly cursor: string | null; readonly offset: number },
  digest: string,
  terms: number,
): Cursor | null {
  if (cursor === null) return null;
  const parts = /^[A-Za-z0-9_-]+$/.test(cursor) ? partsOf(cursor) : null;
  const [own, rowId, ...keys] = parts ?? [];
  const isOfList = own === digest && Number.isSafeInteger(rowId) && keys.length === terms;
  if (offset === 0 && isOfList && keys.every(isKey)) return { rowId: rowId as number, keys };
  throw new AppError('invalid-query', 'Invalid cursor');
}

function partsOf(token: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(value) ? value : null;
  } catch {
    // Not JSON, so not ours; the caller throws.
    return null;
  }
}

function isKey(key: unknown): key is CursorKey {
  if (key === null || typeof key === 'string') return true;
  if (typeof key === 'number') return Number.isFinite(key);
  if (typeof key !== 'object') return false;
  const { int, prefix } = key as { int?: unknown; prefix?: unknown };
  if (int !== undefined) return typeof int === 'string' && isInt64(int);
  return typeof prefix === 'string';
}

function isInt64(digits: string): boolean {
  return /^-?\d{1,19}$/.test(digits) && BigInt.asIntN(64, BigInt(digits)) === BigInt(digits);
}

/** Does not end within a surrogate pair. */
function cut(text: string, length: number): string {
  const end = text.charCodeAt(length - 1) >>> 10 === 0xd800 >>> 10 ? length - 1 : length;
  return text.slice(0, end);
}
