/**
 * Rows of one version as JSON, so that a page is assembled from rows of earlier pages.
 *
 * Reading a row and writing its JSON takes 3 µs, copying it 0.1.
 */
import { type Row, type RowShape, rowsAsJson } from '../encode/encode.ts';

/** Per table; 150,000 rows of eight columns. */
const MAX_TEXT_BYTES = 24 << 20;
const CHUNK_BYTES = 256 * 1024;
/** Each id up to the largest takes eight bytes, kept or not. */
export const MAX_KEPT_ROW_ID = 1_000_000;

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

export class RowJson {
  /** At twice the row id: start of the text and its length; 0 when not kept. */
  readonly #offsets: Uint32Array;
  readonly #chunks: Buffer[] = [];
  /** Bytes used of the last chunk. */
  #filled = CHUNK_BYTES;
  #isFull = false;
  /** Lists made of kept rows; then the others. */
  #hits = 0;
  #misses = 0;

  /** For ids up to this one. */
  constructor(lastRowId: number) {
    this.#offsets = new Uint32Array(2 * (lastRowId + 1));
  }

  get bytes(): number {
    return this.#offsets.byteLength + this.#chunks.length * CHUNK_BYTES;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** At least every fourth list was made of kept rows. */
  get isWorthIt(): boolean {
    return this.#hits * 3 >= this.#misses;
  }

  list(rowIds: readonly number[]): Uint8Array | null {
    const list = this.#joined(rowIds);
    if (list !== null) this.#hits++;
    return list;
  }

  /** `rows` hold all columns. Returns their JSON list, or null when there is no room. */
  learn(shape: RowShape, rows: readonly Row[]): Uint8Array | null {
    this.#misses++;
    let index = 0;
    for (const text of rowsAsJson(shape, rows)) this.#keep(Number(rows[index++]![0]), text);
    return this.#joined(rows.map(([rowId]) => Number(rowId)));
  }

  #joined(rowIds: readonly number[]): Uint8Array | null {
    if (rowIds.length === 0) return Buffer.from('[]');
    // Each text begins with a comma; the first one's is replaced by the bracket.
    let length = 1;
    for (const rowId of rowIds) {
      const own = this.#offsets[2 * rowId + 1];
      if (!own) return null;
      length += own;
    }
    const list = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const rowId of rowIds) {
      const place = this.#offsets[2 * rowId]!;
      const start = place % CHUNK_BYTES;
      const end = start + this.#offsets[2 * rowId + 1]!;
      at += this.#chunks[(place - start) / CHUNK_BYTES]!.copy(list, at, start, end);
    }
    list[0] = OPEN_LIST;
    list[at] = CLOSE_LIST;
    return list;
  }

  #keep(rowId: number, text: Uint8Array): void {
    const isKept = this.#offsets[2 * rowId + 1] !== 0;
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
    this.#offsets[2 * rowId] = chunk * CHUNK_BYTES + this.#filled;
    this.#offsets[2 * rowId + 1] = text.length;
    this.#filled += text.length;
  }
}
