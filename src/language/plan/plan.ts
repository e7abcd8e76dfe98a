/**
 * What SQL does of a query: it leaves rows out, sorts and cuts, reads only the used parts of cells, and groups equal
 * rows before they are counted.
 *
 * Nothing that SQL treats differently is left to it. Conditions may let too many rows through, which the stage tests
 * again; grouped rows pass the same stages with their weights. So results do not depend on where the plan ends.
 */
import type { Stage } from '../syntax/ast.ts';
import type { StageContext } from '../command.ts';
import { findCommand } from '../command-table.ts';
import { readCount, type Count } from '../syntax/count.ts';
import type { SortArguments } from '../commands/sort.ts';
import { FlagValues } from '../syntax/flag-values.ts';
import { STRATEGY } from '../limits.ts';
import type { Compiled, Operator, Weights } from '../run/operator.ts';
import { type PlannedSearch, plannedSearch } from './plan-conditions.ts';
import { checkQuery, inStage, placed, type PlannedPrefix, type PlannedRead } from '../run/run.ts';
import { type Column, type Part, Schema } from '../run/schema.ts';
import type { RowCondition, Source, SourceSort, Wanted } from '../sources/source.ts';
import { noteUse } from '../sources/sql-source.ts';
import type { Row } from '../expressions/value.ts';

/** Commands that make each row by itself and cannot end a query. */
const ROW_WISE = new Set([
  'search',
  'filter',
  'where',
  'eval',
  'annotate',
  'bin',
  'rename',
  'table',
  'fields',
  'drop',
  'fillnull',
  'to_dataframe',
]);
const BATCH_ROWS = 512;

export function planPrefix(
  read: PlannedRead,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  const { stages, context } = read;
  const bound = findCommand(stages[0]!.command)!.bindStage(stages[0]!, null, context);
  if (bound.kind !== 'source' || bound.then.kind !== 'rows') return null;
  const search = filters(read);
  return (
    countedPrefix(read, search, onRead) ??
    readPrefix(read, search, onRead) ??
    unplanned(read, bound.then, onRead)
  );
}

interface Filters {
  readonly conditions: readonly RowCondition[];
  readonly first: Stage | null;
  readonly rest: readonly Stage[];
  readonly count: number;
}

function filters({ source, stages, context }: PlannedRead): Filters {
  const decides = (condition: RowCondition): boolean => source.decides?.(condition) ?? false;
  const plan = (stage: Stage): PlannedSearch =>
    plannedSearch(stage, source.schema, context, decides);
  const first = plan(stages[0]!);
  const conditions = [...first.conditions];
  const rest: Stage[] = [];
  let count = 1;
  // A first stage that sorts, cuts or makes columns changes the rows of the next.
  const isPlain = first.rest === null || isFilter(first.rest);
  const hasRoom = (): boolean => conditions.length < STRATEGY.planConditions;
  while (isPlain && hasRoom() && count < stages.length && isFilter(stages[count]!)) {
    const planned = plan(stages[count]!);
    conditions.push(...planned.conditions);
    if (planned.rest) rest.push(planned.rest);
    count++;
  }
  return { conditions, first: first.rest, rest, count };
}

function isFilter({ command, arguments: args }: Stage): boolean {
  if (command === 'filter') return true;
  if (command !== 'search') return false;
  if (args.form === 'terse') return true;
  return Object.keys(args.flags).every((name) =>
    ['filter', 'exclude', 'model', 'using'].includes(name),
  );
}

class Tracking {
  readonly schema: Schema;
  readonly wanted = new Map<number, 'all' | Part[]>();
  readonly context: StageContext;

  constructor({ source, context }: PlannedRead) {
    this.schema = new Schema(
      source.schema.columns.map(({ name, type, isHidden }, index): Column => ({
        name,
        type,
        ...(isHidden && { isHidden }),
        use: (part) => noteUse(this.wanted, index, part),
      })),
    );
    const tracked: Source = { ...source, schema: this.schema, read: () => [] };
    this.context = {
      ...context,
      source: (name, place) => {
        const found = context.source(name, place);
        return found === source ? tracked : found;
      },
    };
  }
}

function bindFirst(stage: Stage | null, { context }: Tracking): Compiled | null {
  if (stage === null) return null;
  // What is left of the stage may lack its time range, which later stages need.
  const own = { ...context, range: { earliest: null, latest: null } };
  const bound = findCommand(stage.command)!.bindStage(stage, null, own);
  return bound.kind === 'source' ? bound.then : null;
}

/** Grouped by SQL, then counted by a stage that takes weights. */
function countedPrefix(
  read: PlannedRead,
  { conditions, first, rest, count }: Filters,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  const { source, stages, meter } = read;
  if (!source.readCounted) return null;
  const at = stages.findIndex(({ command }, index) => index >= count && !ROW_WISE.has(command));
  if (at < 0) return null;
  const tracking = new Tracking(read);
  const steps: Step[] = [];
  const firstStep = bindFirst(first, tracking);
  if (first !== null && (firstStep?.kind !== 'rows' || !isRowWiseSearch(first))) return null;
  if (firstStep?.kind === 'rows') steps.push({ bound: firstStep, stage: stages[0]! });
  let schema = firstStep?.schema ?? tracking.schema;
  for (const stage of [...rest, ...stages.slice(count, at)]) {
    if (stage.command === 'search' && !isRowWiseSearch(stage)) return null;
    const bound = findCommand(stage.command)!.bindStage(stage, schema, tracking.context);
    if (bound.kind !== 'rows') return null;
    steps.push({ bound, stage });
    ({ schema } = bound);
  }
  const stage = stages[at]!;
  const last = bindAt(stage, at, schema, tracking.context);
  if (last === null || !last.takesWeights) return null;
  const rows = source.readCounted(conditions, tracking.wanted);
  if (rows === null) return null;
  const input = function* (weights: Map<Row, number>): Generator<Row[]> {
    const { push } = started(steps, read);
    for (const batch of batched(rows)) {
      for (const [row, times] of batch) {
        onRead(times);
        const [out] = push([row]);
        if (out === undefined) continue;
        weights.set(out, times);
        yield [out];
      }
      meter.tick();
    }
  };
  return { stages: at + 1, ...counting(last, stage, at, input, read) };
}

/** Sorting, cutting and other columns make a search more than a test of each row. */
function isRowWiseSearch({ arguments: args }: Stage): boolean {
  return (
    args.form === 'terse' ||
    !Object.keys(args.flags).some((name) => name === 'order-by' || name === 'limit')
  );
}

function* batched<T>(all: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const one of all) {
    batch.push(one);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function bindAt(stage: Stage, at: number, schema: Schema, context: StageContext): Compiled | null {
  return placed(stage, at, () => {
    const bound = findCommand(stage.command)!.bindStage(stage, schema, context);
    return bound.kind === 'rows' || bound.kind === 'table' ? bound : null;
  });
}

interface Step {
  readonly bound: Extract<Compiled, { kind: 'rows' }>;
  readonly stage: Stage;
}

function started(steps: readonly Step[], { stages, meter }: PlannedRead) {
  const operators = steps.map(({ bound }) => bound.start(meter));
  const through = (work: (operator: Operator, rows: Row[]) => Row[], first: Row[]): Row[] => {
    let rows = first;
    let at = 0;
    try {
      for (; at < operators.length; at++) rows = work(operators[at]!, rows);
      return rows;
    } catch (error) {
      const { stage } = steps[at]!;
      const index = stages.findIndex(({ word }) => word.at === stage.word.at);
      throw inStage(error, stage, index, meter);
    }
  };
  return {
    push: (rows: Row[]) => through((operator, given) => operator.push(given), rows),
    finish: () => through((operator, given) => operator.push(given).concat(operator.finish()), []),
    isDone: () => operators.some((operator) => operator.isDone?.()),
  };
}

/** A stage whose columns depend on its rows is run at once. */
function counting(
  last: Compiled,
  stage: Stage,
  at: number,
  input: (weights: Map<Row, number>) => Generator<Row[]>,
  { meter }: PlannedRead,
): { readonly schema: Schema; readonly batches: Iterable<Row[]> } {
  if (last.kind === 'table') {
    const weights = new Map<Row, number>();
    const { schema, rows } = placed(
      stage,
      at,
      () => last.run([...input(weights)].flat(), meter, weights),
      meter,
    );
    return { schema, batches: rows.length === 0 ? [] : [rows] };
  }
  const batches = function* (): Generator<Row[]> {
    const weights = new Map<Row, number>();
    const operator: Operator = last.start(meter, weights satisfies Weights);
    for (const rows of input(weights)) {
      placed(stage, at, () => operator.push(rows), meter);
      // Counted: neither the row nor its weight is needed again.
      weights.clear();
    }
    const rows = placed(stage, at, () => operator.finish(), meter);
    if (rows.length > 0) yield rows;
  };
  return { schema: last.schema, batches: { [Symbol.iterator]: batches } };
}

function readPrefix(
  read: PlannedRead,
  { conditions, first, rest, count }: Filters,
  onRead: (rows: number) => void,
): PlannedPrefix | null {
  if (!read.isOutermost) return null;
  const { stages } = read;
  const order = sortOf(first, stages, count, rest, read);
  const tracking = new Tracking(read);
  const firstStep = bindFirst(order.first, tracking);
  if (order.first !== null && firstStep?.kind !== 'rows') return null;
  const steps: Step[] = [];
  if (firstStep?.kind === 'rows') steps.push({ bound: firstStep, stage: stages[0]! });
  let schema = firstStep?.schema ?? tracking.schema;
  for (const stage of rest) {
    const bound = findCommand(stage.command)!.bindStage(stage, schema, tracking.context);
    if (bound.kind !== 'rows') return null;
    steps.push({ bound, stage });
    ({ schema } = bound);
  }
  const after = stages.slice(order.count);
  checkQuery({ stages: after, notices: [], problem: null }, tracking.context, schema).useShown();
  const isDecided = order.first === null || !looksAtRows(order.first);
  const limit =
    isDecided && rest.length === 0 ? (order.limit ?? limitOf(order.first, after, read)) : null;
  if (order.limit !== null && limit === null) return null;
  const plan = { conditions, sort: order.sort, limit, wanted: tracking.wanted as Wanted };
  return {
    stages: order.count,
    schema,
    batches: { [Symbol.iterator]: () => stepped(read, plan, steps, onRead) },
  };
}

function* stepped(
  read: PlannedRead,
  plan: Parameters<Source['read']>[1],
  steps: readonly Step[],
  onRead: (rows: number) => void,
): Generator<Row[]> {
  const { push, finish, isDone } = started(steps, read);
  if (isDone()) return;
  for (const batch of read.source.read(read.order, plan)) {
    onRead(batch.length);
    read.meter.tick();
    const rows = push(batch);
    if (rows.length > 0) yield rows;
    if (isDone()) break;
  }
  const rows = finish();
  if (rows.length > 0) yield rows;
}

function unplanned(
  read: PlannedRead,
  then: Extract<Compiled, { kind: 'rows' }>,
  onRead: (rows: number) => void,
): PlannedPrefix {
  const batches = (): Generator<Row[]> =>
    stepped(read, {}, [{ bound: then, stage: read.stages[0]! }], onRead);
  return { stages: 1, schema: then.schema, batches: { [Symbol.iterator]: batches } };
}

/** Rows must be tested before it is known which are the first. */
function looksAtRows({ command, arguments: args }: Stage): boolean {
  if (args.form === 'terse' || command !== 'search') return true;
  return ['filter', 'exclude', 'order-by'].some((name) => args.flags[name] !== undefined);
}

interface SortPlan {
  readonly sort: readonly SourceSort[];
  readonly first: Stage | null;
  readonly count: number;
  /** Null for all. */
  readonly limit: number | null;
}

/** The order of the first search, or of a sort right after it. */
function sortOf(
  first: Stage | null,
  stages: readonly Stage[],
  count: number,
  rest: readonly Stage[],
  { source, context }: PlannedRead,
): SortPlan {
  const none = { sort: [], first, count, limit: null };
  const known = (sort: readonly SourceSort[] | null): sort is readonly SourceSort[] =>
    sort !== null && sort.length > 0 && sort.every(({ column }) => source.sortsBy?.(column));
  if (first?.arguments.form === 'flag' && first.arguments.flags['order-by']) {
    const flags = new FlagValues(first.command, first.arguments, context.parameters);
    const sort = flagSort(flags.names('order-by'), source.schema);
    if (!known(sort)) return none;
    const { 'order-by': _done, ...left } = first.arguments.flags;
    const arguments_ = { ...first.arguments, flags: left };
    const isEmpty = Object.keys(left).every((name) => name === 'model' || name === 'using');
    return { ...none, sort, first: isEmpty ? null : { ...first, arguments: arguments_ } };
  }
  const next = stages[count];
  if (next?.command !== 'sort' || (first !== null && !isFilter(first))) return none;
  if (next.arguments.form === 'flag') {
    const flags = new FlagValues(next.command, next.arguments, context.parameters);
    const sort = flagSort(flags.names('fields'), source.schema);
    return known(sort) ? { ...none, sort, count: count + 1 } : none;
  }
  const { limit, keys } = next.arguments.args as SortArguments;
  const sort = keys.map(({ field, isDescending }) => ({ column: field.text, isDescending }));
  const isCuttable = limit === null || (first === null && rest.length === 0);
  return known(sort) && isCuttable ? { ...none, sort, limit, count: count + 1 } : none;
}

function flagSort(names: readonly string[] | null, schema: Schema): SourceSort[] | null {
  return (
    names?.map((name) => {
      const isDescending = !schema.has(name) && name.startsWith('-');
      return { column: isDescending ? name.slice(1) : name, isDescending };
    }) ?? null
  );
}

function limitOf(
  first: Stage | null,
  after: readonly Stage[],
  { context }: PlannedRead,
): number | null {
  if (first !== null && first.arguments.form === 'flag') {
    return new FlagValues(first.command, first.arguments, context.parameters).count('limit');
  }
  const next = after.find(({ command }) => command !== 'table' && command !== 'fields');
  if (next?.command !== 'head') return null;
  if (next.arguments.form === 'flag')
    return new FlagValues('head', next.arguments, context.parameters).count('n') ?? 10;
  return readCount('head', next.arguments.args as Count, context.parameters);
}
