import type { FileSource } from '../../src/base/files/file-source.ts';
import type { Cell } from '../../src/tables/types.ts';
import { PageType } from '../../src/tables/parquet/format.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { cellsOf } from './cells.ts';
import { ChunkPages } from './chunk-pages.ts';
import type { Chunk } from './footer.ts';
import { dictionaryValues, type PageValues, pageValues } from './page-values.ts';
import type { CellAt } from './raw-values.ts';

/** Entries of some rows of a nested leaf; there are cells only for values. */
export interface Entries {
  readonly definition: number[];
  readonly repetition: number[];
  readonly cells: Cell[];
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
      if (!(await this.#hasMore())) throw this.#short();
      const { count, definition } = this.#page!;
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
    const found: Entries = { definition: [], repetition: [], cells: [] };
    const { maxDefinition } = this.#chunk.leaf;
    let begun = 0;
    let inRow = 0;
    while (await this.#hasMore()) {
      const { count, definition, repetition } = this.#page!;
      for (; this.#at < count; this.#at++) {
        const level = repetition ? repetition[this.#at]! : 0;
        if (level === 0 && begun === rows) return found;
        if (level === 0) {
          begun++;
          inRow = 0;
        } else if (begun === 0) throw this.#short();
        if (++inRow > MAX_ENTRIES_PER_ROW) {
          throw damaged('a row with more than a million list items');
        }
        const depth = definition ? definition[this.#at]! : maxDefinition;
        found.repetition.push(level);
        found.definition.push(depth);
        if (depth === maxDefinition) found.cells.push(this.#cellAt(this.#valueAt++));
      }
    }
    if (begun < rows) throw this.#short();
    return found;
  }

  /** Throws when the column has more values than rows. */
  async end(): Promise<void> {
    if (await this.#hasMore()) throw this.#short();
  }

  #short(): Error {
    const name = this.#chunk.leaf.path.join('.');
    return damaged(`column '${name}' has another number of rows`);
  }

  /** Turns to the next page with entries when the present one is read. */
  async #hasMore(): Promise<boolean> {
    const { leaf, codec } = this.#chunk;
    while (this.#page === null || this.#at === this.#page.count) {
      const page = await this.#pages.next();
      if (page === null) return false;
      if (page.header.type === PageType.dictionary) {
        const values = dictionaryValues(page, leaf, codec);
        const cellAt = cellsOf(values, leaf);
        this.#dictionary = Array.from({ length: values.count }, (_, index) => cellAt(index));
        continue;
      }
      const dictionary = this.#dictionary ?? [];
      const decoded = pageValues(page, leaf, codec, this.#dictionary?.length ?? null);
      const { values, indexes } = decoded;
      this.#page = decoded;
      this.#at = this.#valueAt = 0;
      this.#cellAt = values ? cellsOf(values, leaf) : (index) => dictionary[indexes![index]!]!;
    }
    return true;
  }
}
