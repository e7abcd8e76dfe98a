/**
 * Rows of one version of a table as the JSON they are in lists, so that a page is put together from rows that other
 * pages had.
 *
 * Reading a row from the copy and writing its JSON takes 3 µs, copying that 0.1. Lists of a hot table differ more often
 * than their rows do: other bounds, other sorts, another page. Forgotten with the version (`TableMemory`).
 */
import { type Row, type RowShape, rowsAsJson } from './encode.ts';

/** Of one table; 150,000 rows of eight columns. */
const MAX_TEXT_BYTES = 24 << 20;
const CHUNK_BYTES = 256 * 1024;
/** Largest row id that is kept; each id takes eight bytes for its place, kept or not. */
export const MAX_KEPT_ROW_ID = 1_000_000;

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** The rows that were in a list, by id. */
export class RowTexts {
  /** By twice the row id: where the text begins and its length; 0 when it is not kept. */
  readonly #places: Uint32Array;
  readonly #chunks: Buffer[] = [];
  /** Written of the last chunk. */
  #filled = CHUNK_BYTES;
  #isFull = false;
  /** Lists made of kept rows, and others. */
  #hits = 0;
  #misses = 0;

  /** For rows up to this id. */
  constructor(lastRowId: number) {
    this.#places = new Uint32Array(2 * (lastRowId + 1));
  }

  /** Memory it takes. */
  get bytes(): number {
    return this.#places.byteLength + this.#chunks.length * CHUNK_BYTES;
  }

  /** There is no room for more rows. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** At least every fourth list was made of kept rows. */
  get isWorthIt(): boolean {
    return this.#hits * 3 >= this.#misses;
  }

  /** The JSON list of these rows in their order; null when one of them is not kept. */
  list(rowIds: readonly number[]): Uint8Array | null {
    const list = this.#joined(rowIds);
    if (list !== null) this.#hits++;
    return list;
  }

  /** Keeps the rows, which are all of the columns; the JSON list of them, or null when there is no room. */
  learn(shape: RowShape, rows: readonly Row[]): Uint8Array | null {
    this.#misses++;
    let index = 0;
    for (const text of rowsAsJson(shape, rows)) this.#keep(Number(rows[index++]![0]), text);
    return this.#joined(rows.map(([rowId]) => Number(rowId)));
  }

  #joined(rowIds: readonly number[]): Uint8Array | null {
    if (rowIds.length === 0) return Buffer.from('[]');
    // Every text begins with a comma; that of the first gives its place to the bracket.
    let length = 1;
    for (const rowId of rowIds) {
      const own = this.#places[2 * rowId + 1];
      if (!own) return null;
      length += own;
    }
    const list = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const rowId of rowIds) {
      const place = this.#places[2 * rowId]!;
      const start = place % CHUNK_BYTES;
      const end = start + this.#places[2 * rowId + 1]!;
      at += this.#chunks[(place - start) / CHUNK_BYTES]!.copy(list, at, start, end);
    }
    list[0] = OPEN_LIST;
    list[at] = CLOSE_LIST;
    return list;
  }

  #keep(rowId: number, text: Uint8Array): void {
    const isKept = this.#places[2 * rowId + 1] !== 0;
    if (this.#isFull || isKept || text.length > CHUNK_BYTES) return;
    if (this.#filled + text.length > CHUNK_BYTES) {
      if ((this.#chunks.length + 1) * CHUNK_BYTES > MAX_TEXT_BYTES) {
        this.#isFull = true;
        return;
      }
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
      this.#filled = 0;
    }
    const chunk = this.#chunks.length - 1;
    this.#chunks[chunk]!.set(text, this.#filled);
    this.#places[2 * rowId] = chunk * CHUNK_BYTES + this.#filled;
    this.#places[2 * rowId + 1] = text.length;
    this.#filled += text.length;
  }
}
