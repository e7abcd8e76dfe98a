/**
 * Writes the pages of a table straight into a SQLite file, rows in id order.
 *
 * Statements take more than twice as long, mostly to bind values. The layout is SQLite's documented and permanent one
 * (sqlite.org/fileformat2.html, 1.6). Nothing may be read before `finish`.
 */
import { putVarint, RecordBuffer } from './record-buffer.ts';
import type { StoredValue } from '../types.ts';

interface PageTarget {
  /** The file holds the empty table and ends before `firstPage`. */
  readonly write: (bytes: Uint8Array, position: number) => void;
  readonly pageBytes: number;
  /** Root of the empty table, not page 1. Pages count from 1. */
  readonly rootPage: number;
  readonly firstPage: number;
  /** Per row, beside its id, which is the first column. */
  readonly values: number;
}

const LEAF = 13;
const INTERIOR = 5;
const LEAF_HEAD = 8;
const INTERIOR_HEAD = 12;
/** Of one interior page; each takes up to 15 bytes: its page, an id and a pointer. */
function maxChildren(pageBytes: number): number {
  return Math.floor((pageBytes - INTERIOR_HEAD) / 15);
}
/** Pages per write. */
const BUFFERED_PAGES = 64;
/** SQLite locks bytes from here on and never uses their page. */
const LOCK_BYTE = 0x4000_0000;
/** Offset of the page count in the file's head. */
const PAGE_COUNT_AT = 28;

/** Skips the page of the lock bytes. */
export function pageAfter(page: number, pageBytes: number): number {
  return page === LOCK_BYTE / pageBytes ? page + 2 : page + 1;
}

/** Memory: a megabyte and twice the largest row. */
export class RowPages {
  readonly #target: PageTarget;
  readonly #record: RecordBuffer;
  /** Most bytes of a row in a leaf, and the least when it overflows. */
  readonly #maxLocal: number;
  readonly #minLocal: number;
  /** Start of each cell of the page in progress in the record buffer. */
  readonly #cells: Uint16Array;
  #cellCount = 0;
  #lastId = 0;
  #next: number;
  #outputStart: number;
  #outputPages = 0;
  readonly #output: Buffer;
  /** With the last id in each. */
  readonly #leaves: Child[] = [];

  constructor(target: PageTarget) {
    const { pageBytes, values, firstPage } = target;
    this.#target = target;
    this.#record = new RecordBuffer(values);
    this.#record.begin(0);
    this.#maxLocal = pageBytes - 35;
    this.#minLocal = Math.floor(((pageBytes - 12) * 32) / 255) - 23;
    this.#cells = new Uint16Array(pageBytes / 4);
    this.#next = this.#outputStart = firstPage;
    this.#output = Buffer.alloc(BUFFERED_PAGES * pageBytes);
  }

  /** To the row in progress. */
  add(value: StoredValue): void {
    this.#record.add(value);
  }

  /** Ids must grow. Throws file system errors. */
  endRow(id: number): void {
    const record = this.#record;
    record.complete(id);
    if (record.payload > this.#maxLocal) this.#spill();
    const pointers = 2 * (this.#cellCount + 1);
    if (record.end + pointers + LEAF_HEAD > this.#target.pageBytes) {
      this.#endLeaf(record.start);
      record.moveToFront();
    }
    this.#cells[this.#cellCount++] = record.start;
    this.#lastId = id;
    record.begin(record.end);
  }

  /** Afterwards the file is a database again. */
  finish(): void {
    const { write, pageBytes, rootPage } = this.#target;
    const used = this.#record.start;
    if (this.#cellCount > 0 && this.#leaves.length > 0) this.#endLeaf(used);
    const root = Buffer.alloc(pageBytes);
    if (this.#leaves.length > 0) this.#putInteriors(root);
    else this.#putLeaf(root, used);
    this.#flush();
    write(root, (rootPage - 1) * pageBytes);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.#next - 1);
    write(count, PAGE_COUNT_AT);
  }

  #endLeaf(used: number): void {
    this.#putLeaf(this.#page(), used);
    this.#leaves.push({ page: this.#next - 1, lastId: this.#lastId });
    this.#cellCount = 0;
  }

  /** Cells stand at the end of their page, in row order. */
  #putLeaf(page: Buffer, used: number): void {
    const start = page.length - used;
    page.set(this.#record.bytes.subarray(0, used), start);
    let at = putHead(page, LEAF, this.#cellCount, start);
    for (let index = 0; index < this.#cellCount; index++) {
      at = page.writeUInt16BE(start + this.#cells[index]!, at);
    }
    page.fill(0, at, start);
  }

  /** The rest of the row goes to overflow pages. */
  #spill(): void {
    const { pageBytes } = this.#target;
    const { payload, payloadStart } = this.#record;
    const room = pageBytes - 4;
    const wanted = this.#minLocal + ((payload - this.#minLocal) % room);
    const local = wanted <= this.#maxLocal ? wanted : this.#minLocal;
    const { bytes } = this.#record;
    const end = payloadStart + payload;
    let first = 0;
    for (let from = payloadStart + local; from < end; from += room) {
      const page = this.#page();
      first ||= this.#next - 1;
      const part = bytes.subarray(from, Math.min(end, from + room));
      page.writeUInt32BE(from + room < end ? pageAfter(this.#next - 1, pageBytes) : 0, 0);
      page.set(part, 4);
      page.fill(0, 4 + part.length);
    }
    this.#record.endWithPage(payloadStart + local, first);
  }

  /** The top goes into `root`. */
  #putInteriors(root: Buffer): void {
    let children = this.#leaves;
    const most = maxChildren(this.#target.pageBytes);
    while (children.length > most) {
      const parents: Child[] = [];
      const count = Math.ceil(children.length / most);
      for (let index = 0; index < count; index++) {
        // Shared evenly, because SQLite accepts no page with one child.
        const [from, to] = [index, index + 1].map((part) =>
          Math.floor((children.length * part) / count),
        );
        const group = children.slice(from, to);
        putInterior(this.#page(), group);
        parents.push({ page: this.#next - 1, lastId: group.at(-1)!.lastId });
      }
      children = parents;
    }
    putInterior(root, children);
  }

  /** Must be filled whole before the next call. */
  #page(): Buffer {
    const { pageBytes } = this.#target;
    if (this.#outputPages === BUFFERED_PAGES) this.#flush();
    const page = this.#output.subarray(
      this.#outputPages * pageBytes,
      (this.#outputPages + 1) * pageBytes,
    );
    const isLocked = this.#next === LOCK_BYTE / pageBytes + 1;
    this.#outputPages++;
    this.#next++;
    if (!isLocked) return page;
    page.fill(0);
    return this.#page();
  }

  #flush(): void {
    const { write, pageBytes } = this.#target;
    const bytes = this.#output.subarray(0, this.#outputPages * pageBytes);
    write(bytes, (this.#outputStart - 1) * pageBytes);
    this.#outputStart = this.#next;
    this.#outputPages = 0;
  }
}

interface Child {
  readonly page: number;
  readonly lastId: number;
}

function putInterior(page: Buffer, children: readonly Child[]): void {
  const last = children.length - 1;
  let start = page.length;
  let pointerAt = INTERIOR_HEAD;
  const cell = Buffer.alloc(13);
  for (const child of children.slice(0, last)) {
    cell.writeUInt32BE(child.page, 0);
    const size = putVarint(cell, 4, child.lastId);
    start -= size;
    page.set(cell.subarray(0, size), start);
    pointerAt = page.writeUInt16BE(start, pointerAt);
  }
  putHead(page, INTERIOR, last, start);
  page.writeUInt32BE(children[last]!.page, LEAF_HEAD);
  page.fill(0, pointerAt, start);
}

/** Returns the offset after the part that all pages have. */
function putHead(page: Buffer, type: number, cells: number, start: number): number {
  page[0] = type;
  page.writeUInt16BE(0, 1);
  page.writeUInt16BE(cells, 3);
  page.writeUInt16BE(start, 5);
  page[7] = 0;
  return LEAF_HEAD;
}
