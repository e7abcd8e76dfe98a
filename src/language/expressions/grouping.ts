/** Groups come in ascending order of their keys. */
import type { AccumulatorFactory, Accumulator } from './aggregates.ts';
import { MAX_GROUPS } from '../limits.ts';
import { requireAtMost, type Meter, type Rows } from '../run/operator.ts';
import { cellTypeOf, Schema, type Column, type Reference } from '../run/schema.ts';
import { compareValues, keyOfAll, sizeOf, type Row, type Value, type Evaluate } from './value.ts';

export interface Group {
  readonly keys: readonly Value[];
  readonly accumulators: readonly Accumulator[];
}

export class Groups {
  readonly #keys: readonly Evaluate[];
  readonly #factories: readonly AccumulatorFactory[];
  readonly #meter: Meter;
  readonly #groups = new Map<string, Group>();

  constructor(keys: readonly Evaluate[], factories: readonly AccumulatorFactory[], meter: Meter) {
    this.#keys = keys;
    this.#factories = factories;
    this.#meter = meter;
  }

  /** Returns the row's group. */
  add(row: Row, times = 1): Group {
    const values = this.#keys.map((key) => key(row));
    const text = keyOfAll(values);
    let group = this.#groups.get(text);
    if (!group) {
      requireAtMost(this.#groups.size + 1, MAX_GROUPS, 'groups');
      this.#meter.hold(
        128 + text.length * 2 + values.reduce<number>((sum, value) => sum + sizeOf(value), 0),
      );
      group = { keys: values, accumulators: this.#factories.map((make) => make(this.#meter)) };
      this.#groups.set(text, group);
    }
    for (const accumulator of group.accumulators) accumulator.add(row, times);
    return group;
  }

  get size(): number {
    return this.#groups.size;
  }

  ordered(): Group[] {
    return [...this.#groups.values()].sort((a, b) => compareKeys(a.keys, b.keys));
  }

  all(): MapIterator<Group> {
    return this.#groups.values();
  }
}

export function compareKeys(a: readonly Value[], b: readonly Value[]): number {
  for (let index = 0; index < a.length; index++) {
    const order = compareValues(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return 0;
}

/** Keys first; without keys always one row. */
export function grouped(
  keys: readonly (Reference & { readonly name: string })[],
  aggregates: readonly { readonly name: string; readonly factory: AccumulatorFactory }[],
): Rows {
  const columns: Column[] = [
    ...keys.map(({ name, ...type }) => ({ name, ...cellTypeOf(type) })),
    ...aggregates.map(({ name }) => ({ name, type: 'json' as const })),
  ];
  const getters = keys.map(({ get }) => get);
  const factories = aggregates.map(({ factory }) => factory);
  return {
    kind: 'rows',
    schema: new Schema(columns),
    takesWeights: factories.every(({ takesWeights }) => takesWeights),
    start: (meter, weights) => {
      const groups = new Groups(getters, factories, meter);
      return {
        push: (rows) => {
          for (const row of rows) groups.add(row, weights?.get(row));
          return [];
        },
        finish: () => {
          if (keys.length === 0 && groups.size === 0) {
            return [factories.map((make) => make(meter).result())];
          }
          return groups
            .ordered()
            .map(({ keys: values, accumulators }) => [
              ...values,
              ...accumulators.map((accumulator) => accumulator.result()),
            ]);
        },
      };
    },
  };
}
