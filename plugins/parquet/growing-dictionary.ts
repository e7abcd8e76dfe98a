import {
  dictionaryPage,
  type PageStyle,
  type WrittenPage,
} from '../../src/tables/parquet/page-writer.ts';
import { PlainValues } from './plain-values.ts';
import { type RawValues, rawValue } from './raw-values.ts';
import type { Leaf } from './schema.ts';

export class GrowingDictionary {
  readonly #leaf: Leaf;
  readonly #values: RawValues;
  readonly #added: Uint8Array[] = [];
  /** Index by the value's bytes; built at the first lookup. */
  #places: Map<string, number> | null = null;

  /** `values` must not change. Their indexes stay valid when values are added. */
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

  /** Adds the value if it is missing. */
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
