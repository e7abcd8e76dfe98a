/**
 * What SQL does of a query: conditions that let a source leave rows out, and whole first stages where the answer is
 * exactly the same (SL-150).
 *
 * Conditions are necessary; the stages look at every row again, so where the plan ends cannot be seen in the rows. Rows are
 * counted in SQL only when the conditions are sufficient, too, and for keys whose equality SQL and we agree about.
 */
import type { Stage } from './ast.ts';
import type { StageContext } from './command.ts';
import { findCommand } from './command-table.ts';
import { compareKeys } from './grouping.ts';
import { MAX_GROUPS } from './limits.ts';
import { requireAtMost } from './operator.ts';
import { type PlannedConditions, plannedConditions } from './plan-conditions.ts';
import { Problem } from './problem.ts';
import type { PlannedPrefix, PlannedRead } from './run.ts';
import type { Reference, Schema } from './schema.ts';
import type { CountedKey, CountKey } from './sources/source.ts';
import type { AggregateArguments } from './terse-aggregate.ts';
import { keyOfAll, type Row, type Value } from './value.ts';

/** A plan for the first stages; null when the source has nothing to plan. */
export function planPrefix(
  read: PlannedRead,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  const { source, stages, context } = read;
  const bound = findCommand(stages[0]!.command)!.bindStage(stages[0]!, null, context);
  if (bound.kind !== 'source' || bound.then.kind !== 'rows') return null;
  const planned = plannedConditions(stages[0]!, source.schema, context);
  const counted = planned.isExact ? countedPrefix(read, bound.then.schema, planned, onRead) : null;
  if (counted) return counted;
  const { then } = bound;
  const batches = function* (): Generator<Row[]> {
    const operator = then.start(read.meter);
    for (const batch of source.read(read.order, planned.conditions)) {
      onRead(batch.length);
      read.meter.tick();
      const rows = operator.push(batch);
      if (rows.length > 0) yield rows;
      if (operator.isDone?.()) break;
    }
    const rest = operator.finish();
    if (rest.length > 0) yield rest;
  };
  return { stages: 1, schema: then.schema, batches: { [Symbol.iterator]: batches } };
}

/** A search followed by nothing but counting. */
function countedPrefix(
  { source, stages, context }: PlannedRead,
  input: Schema,
  { conditions }: PlannedConditions,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  const [, stage] = stages;
  const keys = stage && source.countBy ? countKeys(stage, input) : null;
  if (!stage || keys === null) return null;
  const rows = source.countBy!(conditions, keys);
  const compiled = rows && compiledCount(stage, input, context);
  if (!rows || !compiled) return null;
  const counts = compiled.columns.length - keys.length;
  // A name used twice makes fewer columns than keys and counts.
  if (counts < 1) return null;
  const batches = function* (): Generator<Row[]> {
    const groups = merged(rows, stage, onRead);
    if (keys.length === 0 && groups.length === 0) groups.push({ values: [], count: 0 });
    yield groups.map(({ values, count }) => [...values, ...new Array<Value>(counts).fill(count)]);
  };
  return { stages: 2, schema: compiled, batches: { [Symbol.iterator]: batches } };
}

/** What the counting stage is to give; null for a stage that does more. Throws what is wrong with it at its place. */
function compiledCount(stage: Stage, input: Schema, context: StageContext): Schema | null {
  try {
    const bound = findCommand(stage.command)!.bindStage(stage, input, context);
    return bound.kind === 'rows' ? bound.schema : null;
  } catch (error) {
    throw error instanceof Problem ? error.in(2, stage.command, stage.word) : error;
  }
}

/** Keys of a stage that only counts rows; null for every other stage. */
function countKeys({ command, arguments: args }: Stage, input: Schema): CountKey[] | null {
  if (command !== 'stats' || args.form !== 'terse') return null;
  const { aggregates, by } = args.args as AggregateArguments;
  const names = by.map(({ text }) => text);
  const results = aggregates.map(({ alias }) => alias ?? 'count');
  const isCount = aggregates.every(
    ({ name, argument }) => name.text.toLowerCase() === 'count' && argument.kind === 'none',
  );
  if (!isCount || new Set([...names, ...results]).size < names.length + results.length) return null;
  const keys = names.map((name) => countKey(input.find(name, 'terse'), input));
  return keys.every((key) => key !== null) ? keys : null;
}

function countKey(reference: Reference | null, input: Schema): CountKey | null {
  if (reference === null) return null;
  if (reference.column !== null)
    return { column: input.columns[reference.column]!.name, member: null };
  if (reference.path === null) return null;
  return { column: input.columns[reference.path.column]!.name, member: reference.path.rest };
}

/** One group for each value, in ascending order. */
function merged(
  rows: Iterable<CountedKey>,
  stage: Stage,
  onRead: (rows: number) => void,
): CountedKey[] {
  const groups = new Map<string, { values: readonly Value[]; count: number }>();
  for (const { values, count } of rows) {
    onRead(count);
    const key = keyOfAll(values);
    const known = groups.get(key);
    if (known) known.count += count;
    else groups.set(key, { values, count });
    try {
      requireAtMost(groups.size, MAX_GROUPS, 'groups');
    } catch (error) {
      throw error instanceof Problem ? error.in(2, stage.command, stage.word) : error;
    }
  }
  return [...groups.values()].sort((a, b) => compareKeys(a.values, b.values));
}
