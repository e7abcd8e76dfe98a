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

interface Labelled {
  /** As written in the query, whatever its column is called. */
  readonly label: string;
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

  /** Tells for each aggregate how many values it skipped. */
  noteLeftOut(aggregates: readonly Labelled[], notice: (text: string) => void): void {
    aggregates.forEach(({ label }, at) => {
      let count = 0;
      for (const { accumulators } of this.#groups.values())
        count += accumulators[at]!.leftOut?.() ?? 0;
      if (count === 1) notice(`${label} left out 1 value that is text and no number`);
      if (count > 1) notice(`${label} left out ${count} values that are text and no numbers`);
    });
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
  aggregates: readonly (Labelled & {
    readonly name: string;
    readonly factory: AccumulatorFactory;
  })[],
  notice: (text: string) => void,
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
          groups.noteLeftOut(aggregates, notice);
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
