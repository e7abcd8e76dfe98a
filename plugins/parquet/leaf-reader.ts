import type { FileSource } from '../../src/base/files/file-source.ts';
import type { Cell } from '../../src/tables/types.ts';
import { PageType } from '../../src/tables/parquet/format.ts';
import { cellsOf } from './cells.ts';
import { ChunkPages } from './chunk-pages.ts';
import type { Chunk } from './footer.ts';
import { dictionaryValues, type PageValues, pageValues } from './page-values.ts';
import { type CellAt, damaged } from './raw-values.ts';

/** Entries of some rows of a nested leaf; there are cells only for values. */
export interface Entries {
  readonly count: number;
  readonly definition: Uint8Array;
  readonly repetition: Uint8Array;
  readonly cells: readonly Cell[];
}

/** A row with more list items would exceed the longest cell. */
const MAX_ENTRIES_PER_ROW = 1_048_576;

export class LeafReader {
  readonly #chunk: Chunk;
  readonly #pages: ChunkPages;
  #dictionary: readonly Cell[] | null = null;
  #page: PageValues | null = null;
  #cellAt: CellAt = () => null;
  /** Index among the page's levels, and among its values. */
  #at = 0;
  #valueAt = 0;

  constructor(source: FileSource, chunk: Chunk) {
    this.#chunk = chunk;
    this.#pages = new ChunkPages(source, chunk);
  }

  /** Sets the first `rows` of `cells`; only for a column without repetition levels. */
  async fill(cells: Cell[], rows: number): Promise<void> {
    for (let row = 0; row < rows;) {
      const { count, definition } = await this.#current();
      const end = Math.min(rows, row + count - this.#at);
      const cellAt = this.#cellAt;
      let at = this.#at;
      let valueAt = this.#valueAt;
      this.#at += end - row;
      if (definition) {
        for (; row < end; row++, at++) {
          cells[row] = definition[at] === 1 ? cellAt(valueAt++) : null;
        }
      } else for (; row < end; row++) cells[row] = cellAt(valueAt++);
      this.#valueAt = valueAt;
    }
  }

  async entries(rows: number): Promise<Entries> {
    const found = new EntryList(this.#chunk.leaf.maxDefinition);
    let begun = 0;
    for (;;) {
      if (!(await this.#hasMore())) {
        if (begun < rows) throw this.#short();
        return found.entries();
      }
      const { count, definition, repetition } = this.#page!;
      while (this.#at < count) {
        const level = repetition ? repetition[this.#at]! : 0;
        if (level === 0 && begun === rows) return found.entries();
        if (level === 0) begun++;
        else if (begun === 0) throw this.#short();
        const depth = definition ? definition[this.#at]! : this.#chunk.leaf.maxDefinition;
        found.add(
          level,
          depth,
          this.#chunk.leaf.maxDefinition === depth ? this.#cellAt(this.#valueAt++) : null,
        );
        this.#at++;
      }
    }
  }

  /** Throws when the column has more values than rows. */
  async end(): Promise<void> {
    if (await this.#hasMore()) throw this.#short();
  }

  #short(): Error {
    const name = this.#chunk.leaf.path.join('.');
    return damaged(`column '${name}' has another number of rows`);
  }

  async #current(): Promise<PageValues> {
    if (await this.#hasMore()) return this.#page!;
    throw this.#short();
  }

  async #hasMore(): Promise<boolean> {
    while (this.#page === null || this.#at === this.#page.count) {
      if (!(await this.#turn())) return false;
    }
    return true;
  }

  async #turn(): Promise<boolean> {
    const { leaf, codec } = this.#chunk;
    for (;;) {
      const page = await this.#pages.next();
      if (page === null) return false;
      if (page.header.type === PageType.dictionary) {
        const values = dictionaryValues(page, leaf, codec);
        const cellAt = cellsOf(values, leaf);
        this.#dictionary = Array.from({ length: values.count }, (_, index) => cellAt(index));
        continue;
      }
      const decoded = pageValues(page, leaf, codec, this.#dictionary?.length ?? null);
      this.#page = decoded;
      this.#at = this.#valueAt = 0;
      this.#cellAt = decoded.values
        ? cellsOf(decoded.values, leaf)
        : this.#indexed(decoded.indexes!);
      return true;
    }
  }

  #indexed(indexes: Int32Array): CellAt {
    const dictionary = this.#dictionary ?? [];
    return (index) => dictionary[indexes[index]!]!;
  }
}

class EntryList {
  readonly #max: number;
  #definition = new Uint8Array(256);
  #repetition = new Uint8Array(256);
  readonly #cells: Cell[] = [];
  #count = 0;
  #inRow = 0;

  constructor(maxDefinition: number) {
    this.#max = maxDefinition;
  }

  add(repetition: number, definition: number, cell: Cell): void {
    this.#inRow = repetition === 0 ? 1 : this.#inRow + 1;
    if (this.#inRow > MAX_ENTRIES_PER_ROW)
      throw damaged('a row with more than a million list items');
    if (this.#count === this.#definition.length) {
      this.#definition = doubled(this.#definition);
      this.#repetition = doubled(this.#repetition);
    }
    this.#definition[this.#count] = definition;
    this.#repetition[this.#count++] = repetition;
    if (definition === this.#max) this.#cells.push(cell);
  }

  entries(): Entries {
    return {
      count: this.#count,
      definition: this.#definition,
      repetition: this.#repetition,
      cells: this.#cells,
    };
  }
}

function doubled(array: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(array.length * 2);
  larger.set(array);
  return larger;
}
