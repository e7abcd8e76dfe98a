/**
 * A chunk's dictionary that an edit may add values to; the indexes of the old ones stay.
 */
import {
  dictionaryPage,
  type PageStyle,
  type WrittenPage,
} from '../../src/dataset/parquet/page-writer.ts';
import { PlainValues } from './plain-values.ts';
import { type RawValues, rawValue } from './raw-values.ts';
import type { Leaf } from './schema.ts';

/** Finds places for values. */
export class GrowingDictionary {
  readonly #leaf: Leaf;
  readonly #values: RawValues;
  readonly #added: Uint8Array[] = [];
  /** Places by the bytes of the values; made when the first value is looked up. */
  #places: Map<string, number> | null = null;

  /** `values` must stay as they are. */
  constructor(leaf: Leaf, values: RawValues) {
    this.#leaf = leaf;
    this.#values = values;
  }

  get size(): number {
    return this.#values.count + this.#added.length;
  }

  get isChanged(): boolean {
    return this.#added.length > 0;
  }

  /** The place of a value, which is added if there is none like it. */
  placeOf(value: Uint8Array): number {
    const places = (this.#places ??= this.#index());
    const key = keyOf(value);
    let place = places.get(key);
    if (place === undefined) {
      place = this.size;
      this.#added.push(value);
      places.set(key, place);
    }
    return place;
  }

  /** The dictionary as a page. */
  page(style: PageStyle): WrittenPage {
    const values = new PlainValues(this.#leaf);
    for (let index = 0; index < this.#values.count; index++) {
      const value = rawValue(this.#values, index);
      values.add(value, 0, value.length);
    }
    for (const value of this.#added) values.add(value, 0, value.length);
    return dictionaryPage(values.encoded(), this.size, style);
  }

  #index(): Map<string, number> {
    const places = new Map<string, number>();
    for (let index = 0; index < this.#values.count; index++) {
      places.set(keyOf(rawValue(this.#values, index)), index);
    }
    return places;
  }
}

function keyOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
