import { Encoding } from '../../src/tables/parquet/format.ts';
import {
  dataPage,
  indexBytes,
  type PageStyle,
  type WrittenPage,
} from '../../src/tables/parquet/page-writer.ts';
import { type EncodedValues, encodeLike } from './delta-writer.ts';
import type { GrowingDictionary } from './growing-dictionary.ts';
import type { PageValues } from './page-values.ts';
import { PlainValues } from './plain-values.ts';
import type { Leaf } from './schema.ts';

/** Changes of a leaf in a row group, by row. */
export interface LeafChanges {
  /** Null is a null. */
  readonly updates: ReadonlyMap<number, Uint8Array | null>;
  readonly deletes: ReadonlySet<number>;
  /** After the last row. */
  readonly appended: readonly (Uint8Array | null)[];
}

export interface EditedPage extends WrittenPage {
  readonly encoding: number;
  readonly count: number;
}

export class PageEdit {
  readonly #leaf: Leaf;
  /** Null: values are in the page, in the wanted encoding if it can be written. */
  readonly #dictionary: GrowingDictionary | null;
  readonly #encoding: number;
  readonly #definition: number[] = [];
  readonly #repetition: number[] = [];
  readonly #indexes: number[] = [];
  readonly #plain: PlainValues;
  #rows = 0;
  #count = 0;
  #present = 0;

  constructor(leaf: Leaf, dictionary: GrowingDictionary | null, encoding: number) {
    this.#leaf = leaf;
    this.#dictionary = dictionary;
    this.#encoding = encoding;
    this.#plain = new PlainValues(leaf);
  }

  /**
   * Takes over the entries of an old page with changes; returns the row after its last one. `row`
   * is the row its first entry begins. The page must have the encoding of this one.
   */
  take(page: PageValues, row: number, { updates, deletes }: LeafChanges): number {
    const { definition, repetition, count } = page;
    const { maxDefinition } = this.#leaf;
    let next = row;
    let valueAt = 0;
    for (let at = 0; at < count; at++) {
      const level = repetition ? repetition[at]! : 0;
      if (level === 0) next++;
      const depth = definition ? definition[at]! : maxDefinition;
      const value = depth === maxDefinition ? valueAt++ : -1;
      const own = next - 1;
      if (deletes.has(own)) continue;
      const update = updates.size > 0 ? updates.get(own) : undefined;
      if (update === undefined) this.#keep(page, level, depth, value);
      // A row's list items go with the first of them.
      else if (level === 0) this.add(update);
    }
    return next;
  }

  /** One value or a null. */
  add(value: Uint8Array | null): void {
    this.#entry(0, value ? this.#leaf.maxDefinition : 0);
    if (!value) return;
    if (this.#dictionary) this.#indexes.push(this.#dictionary.placeOf(value));
    else this.#plain.add(value, 0, value.length);
  }

  #keep(page: PageValues, level: number, depth: number, value: number): void {
    this.#entry(level, depth);
    if (value < 0) return;
    if (page.indexes) this.#indexes.push(page.indexes[value]!);
    else {
      const { bytes, width, starts, ends } = page.values!;
      if (width > 0) this.#plain.add(bytes, value * width, (value + 1) * width);
      else this.#plain.add(bytes, starts[value]!, ends[value]!);
    }
  }

  #values(): EncodedValues {
    if (!this.#dictionary) {
      return encodeLike(this.#encoding, this.#plain.encoded(), this.#present, this.#leaf);
    }
    const bytes = indexBytes(Int32Array.from(this.#indexes), this.#dictionary.size);
    return { encoding: Encoding.dictionary, bytes };
  }

  #entry(level: number, depth: number): void {
    if (depth === this.#leaf.maxDefinition) this.#present++;
    this.#repetition.push(level);
    this.#definition.push(depth);
    this.#count++;
    if (level === 0) this.#rows++;
  }

  page(style: PageStyle): EditedPage | null {
    const { maxDefinition, maxRepetition } = this.#leaf;
    if (this.#count === 0) return null;
    const { encoding, bytes } = this.#values();
    const written = dataPage(
      {
        rows: this.#rows,
        count: this.#count,
        definition: maxDefinition > 0 ? Uint8Array.from(this.#definition) : null,
        repetition: maxRepetition > 0 ? Uint8Array.from(this.#repetition) : null,
        maxDefinition,
        maxRepetition,
        encoding,
        values: bytes,
      },
      style,
    );
    return { ...written, encoding, count: this.#count };
  }
}
