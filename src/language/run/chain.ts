import { unchanged, type Compiled, type Operator } from './operator.ts';
import type { Schema } from './schema.ts';
import type { Row } from '../expressions/value.ts';

export function chained(input: Schema, steps: readonly Compiled[]): Compiled {
  if (steps.length === 0) return unchanged(input);
  if (steps.length === 1) return steps[0]!;
  return {
    kind: 'rows',
    schema: steps.at(-1)!.schema,
    start: (meter) =>
      new Chain(steps.map((step) => (step as Extract<Compiled, { kind: 'rows' }>).start(meter))),
  };
}

class Chain implements Operator {
  readonly #operators: readonly Operator[];

  constructor(operators: readonly Operator[]) {
    this.#operators = operators;
  }

  push(rows: Row[]): Row[] {
    return this.#operators.reduce((batch, operator) => operator.push(batch), rows);
  }

  finish(): Row[] {
    let rows: Row[] = [];
    for (const operator of this.#operators) {
      const passed = operator.push(rows);
      rows = passed.concat(operator.finish());
    }
    return rows;
  }

  isDone(): boolean {
    const [first] = this.#operators;
    // A step behind a full one may still hold rows, which `finish` returns.
    return this.#operators.some((operator) => operator.isDone?.() ?? false) && first !== undefined;
  }
}
