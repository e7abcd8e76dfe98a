/**
 * What SQL does of a query: it leaves rows out, sorts and cuts, reads only the used parts of cells, and groups equal
 * rows.
 *
 * Nothing that SQL treats differently is left to it. Conditions may let too many rows through, which the stage tests
 * again; grouped rows pass the same stages with their weights. So results do not depend on where the plan ends.
 */
import type { Expression, FlagArguments, Stage, Terms } from '../syntax/ast.ts';
import type { StageContext } from '../command.ts';
import { findCommand } from '../command-table.ts';
import { readCount, type Count } from '../syntax/count.ts';
import { sortColumns, type SortArguments } from '../commands/sort.ts';
import { FlagValues } from '../syntax/flag-values.ts';
import { STRATEGY } from '../limits.ts';
import { chain, type Operator, type Rows, type Weights } from '../run/operator.ts';
import { type PlannedSearch, plannedSearch } from './plan-conditions.ts';
import {
  checkQuery,
  counted,
  operated,
  placed,
  type PlannedPrefix,
  type PlannedRead,
} from '../run/run.ts';
import { type Column, type Part, Schema } from '../run/schema.ts';
import type { ReadPlan, RowCondition, RowTest, Source, SourceSort } from '../sources/source.ts';
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
const TICK_ROWS = 512;

export function planPrefix(read: PlannedRead): PlannedPrefix | null {
  const first = read.stages[0]!;
  const bound = findCommand(first.command)!.bindStage(first, null, read.context);
  if (bound.kind !== 'source' || bound.then.kind !== 'rows') return null;
  const search = filters(read);
  return (
    countedPrefix(read, search, true) ??
    countedPrefix(read, search, false) ??
    readPrefix(read, search) ??
    sourcePrefix(
      read,
      {},
      { operators: [started(bound.then, first, read)], schema: bound.then.schema },
      1,
    )
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
      source.schema.columns.map((column, index): Column => ({
        ...column,
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

interface Steps {
  readonly operators: readonly Operator[];
  readonly schema: Schema;
}

/** Null where a stage is none that streams rows. */
function bindSteps(
  first: Stage | null,
  rest: readonly Stage[],
  { schema: source, context }: Tracking,
  read: PlannedRead,
): Steps | null {
  const operators: Operator[] = [];
  let schema = source;
  if (first !== null) {
    // What is left of the stage may lack its time range, which later stages need.
    const own = { ...context, range: { earliest: null, latest: null } };
    const bound = findCommand(first.command)!.bindStage(first, null, own);
    if (bound.kind !== 'source' || bound.then.kind !== 'rows') return null;
    operators.push(started(bound.then, first, read));
    ({ schema } = bound.then);
  }
  for (const stage of rest) {
    const bound = findCommand(stage.command)!.bindStage(stage, schema, context);
    if (bound.kind !== 'rows') return null;
    operators.push(started(bound, stage, read));
    ({ schema } = bound);
  }
  return { operators, schema };
}

/** Its errors name the stage. */
function started(
  bound: Rows,
  stage: Stage,
  { stages, meter }: PlannedRead,
  weights?: Weights,
): Operator {
  const operator = bound.start(meter, weights);
  const index = stages.findIndex(({ word }) => word.at === stage.word.at);
  return {
    push: (rows) => placed(stage, index, () => operator.push(rows), meter),
    finish: () => placed(stage, index, () => operator.finish(), meter),
    isDone: () => operator.isDone?.() ?? false,
  };
}

/** Grouped by the source, then counted by a stage that takes weights. */
function countedPrefix(
  read: PlannedRead,
  filters: Filters,
  isByColumns: boolean,
): PlannedPrefix | null {
  const { source, stages, meter, onRead } = read;
  const { conditions, first, rest, count } = filters;
  if (!(isByColumns ? source.readColumns : source.readCounted)) return null;
  const at = stages.findIndex(({ command }, index) => index >= count && !ROW_WISE.has(command));
  if (at < 0) return null;
  const tracking = new Tracking(read);
  const all = [...rest, ...stages.slice(count, at)];
  if (![...(first ? [first] : []), ...all].every(isRowWise)) return null;
  const isTested = isByColumns && (first === null || isFilter(first));
  const tested = isTested ? columnTests(first, all, read) : null;
  const steps = tested
    ? bindSteps(tested.first, tested.rest, tracking, read)
    : bindSteps(first, all, tracking, read);
  if (steps === null) return null;
  const stage = stages[at]!;
  const last = placed(stage, at, () =>
    findCommand(stage.command)!.bindStage(stage, steps.schema, tracking.context),
  );
  if ((last.kind !== 'rows' && last.kind !== 'table') || !last.takesWeights) return null;
  const { wanted } = tracking;
  const rows = isByColumns
    ? source.readColumns!({
        conditions,
        wanted,
        tests: tested?.tests ?? [],
        tick: () => meter.tick(),
        onRead,
      })
    : source.readCounted!(conditions, wanted);
  if (rows === null) return null;
  const weights = new Map<Row, number>();
  const input = function* (): Generator<Row[]> {
    const { push } = chain(steps.operators);
    let batch: Row[] = [];
    let seen = 0;
    for (const [row, times] of rows) {
      if (!isByColumns) onRead(times);
      if (++seen % TICK_ROWS === 0) meter.tick();
      // A step may make other rows: which came from which is known of one row at a time.
      const [out] = push([row]);
      if (out === undefined) continue;
      weights.set(out, times);
      batch.push(out);
      if (batch.length < TICK_ROWS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  };
  if (last.kind === 'table') {
    // Its columns depend on its rows: it is run at once.
    const { schema, rows: made } = placed(
      stage,
      at,
      () => last.run([...input()].flat(), meter, weights),
      meter,
    );
    return { stages: at + 1, schema, batches: made.length === 0 ? [] : [made] };
  }
  const operator = started(last, stage, read, weights);
  const counting: Operator = {
    ...operator,
    push: (batch) => {
      const made = operator.push(batch);
      // Counted: neither the row nor its weight is needed again.
      weights.clear();
      return made;
    },
  };
  const batches = (): Generator<Row[]> => operated(counting, input(), { tick: () => {} });
  return { stages: at + 1, schema: last.schema, batches: { [Symbol.iterator]: batches } };
}

/** Filters at the beginning that look at one column each, and the stages that are left. */
function columnTests(
  first: Stage | null,
  stages: readonly Stage[],
  read: PlannedRead,
): {
  readonly tests: readonly RowTest[];
  readonly first: Stage | null;
  readonly rest: readonly Stage[];
} {
  const tests: RowTest[] = [];
  /** The parts of a stage that are left. */
  const untested = (stage: Stage, isFirst: boolean): Stage[] =>
    conjuncts(stage).filter((part) => {
      const tracking = new Tracking(read);
      const steps = isFirst
        ? bindSteps(part, [], tracking, read)
        : bindSteps(null, [part], tracking, read);
      const [wanted, ...others] = tracking.wanted;
      if (steps === null || wanted === undefined || others.length > 0) return true;
      const [column, parts] = wanted;
      const { push } = chain(steps.operators);
      tests.push({ column, parts, passes: (row) => push([row]).length > 0 });
      return false;
    });
  // As the first stage stands only one of its parts: all of it when several are left.
  const left = first === null ? [] : untested(first, true);
  const isFilterOnly = (stage: Stage): boolean => stage.command === 'where' || isFilter(stage);
  const end = stages.findIndex((stage) => !isFilterOnly(stage));
  const filters = end < 0 ? stages : stages.slice(0, end);
  const rest = filters.flatMap((stage) => untested(stage, false));
  return {
    tests,
    first: left.length > 1 ? first : (left[0] ?? null),
    rest: [...rest, ...stages.slice(filters.length)],
  };
}

/** Stages that together let the same rows pass. */
function conjuncts(stage: Stage): Stage[] {
  if (stage.arguments.form === 'flag') return flagConjuncts(stage, stage.arguments);
  const { args } = stage.arguments;
  const parts = stage.command === 'where' ? operandsOf(args as Expression) : itemsOf(args as Terms);
  return parts.map((part) => ({ ...stage, arguments: { form: 'terse', args: part } }));
}

function flagConjuncts(stage: Stage, args: FlagArguments): Stage[] {
  const { filter = [], exclude = [], ...others } = args.flags;
  if (stage.command !== 'search' || filter.length + exclude.length < 2) return [stage];
  const only = (flags: FlagArguments['flags']): Stage => ({
    ...stage,
    arguments: { ...args, flags: { ...others, ...flags } },
  });
  return [
    ...filter.map((word) => only({ filter: [word] })),
    ...exclude.map((word) => only({ exclude: [word] })),
  ];
}

function operandsOf(expression: Expression): Expression[] {
  const isAnd = expression.kind === 'binary' && expression.op === 'AND';
  return isAnd ? [...operandsOf(expression.left), ...operandsOf(expression.right)] : [expression];
}

function itemsOf(terms: Terms): Terms[] {
  const isAnd = terms.kind === 'and' || terms.kind === 'all';
  return isAnd && terms.items.length > 0 ? terms.items.flatMap(itemsOf) : [terms];
}

/** Sorting and cutting make a search more than a test of each row. */
function isRowWise({ command, arguments: args }: Stage): boolean {
  return (
    command !== 'search' ||
    args.form === 'terse' ||
    !Object.keys(args.flags).some((name) => name === 'order-by' || name === 'limit')
  );
}

function readPrefix(
  read: PlannedRead,
  { conditions, first, rest, count }: Filters,
): PlannedPrefix | null {
  if (!read.isOutermost) return null;
  const { stages } = read;
  const order = sortOf(first, stages, count, rest, read);
  const tracking = new Tracking(read);
  const steps = bindSteps(order.first, rest, tracking, read);
  if (steps === null) return null;
  const after = stages.slice(order.count);
  const query = { stages: after, notices: [], problem: null };
  checkQuery(query, tracking.context, steps.schema).useShown();
  const isDecided = order.first === null || !looksAtRows(order.first);
  const limit =
    isDecided && rest.length === 0 ? (order.limit ?? limitOf(order.first, after, read)) : null;
  if (order.limit !== null && limit === null) return null;
  const plan = { conditions, sort: order.sort, limit, wanted: tracking.wanted };
  return sourcePrefix(read, plan, steps, order.count);
}

function sourcePrefix(
  read: PlannedRead,
  plan: ReadPlan,
  { operators, schema }: Steps,
  stages: number,
): PlannedPrefix {
  const batches = (): Generator<Row[]> =>
    operated(chain(operators), counted(read.source.read(read.order, plan), read), read.meter);
  return { stages, schema, batches: { [Symbol.iterator]: batches } };
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
  const known = (sort: readonly SourceSort[]): boolean =>
    sort.length > 0 && sort.every(({ column }) => source.sortsBy?.(column));
  if (first?.arguments.form === 'flag' && first.arguments.flags['order-by']) {
    const flags = new FlagValues(first.command, first.arguments, context.parameters);
    const sort = sortColumns(flags.names('order-by')!, source.schema);
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
    const sort = sortColumns(flags.names('fields')!, source.schema);
    return known(sort) ? { ...none, sort, count: count + 1 } : none;
  }
  const { limit, keys } = next.arguments.args as SortArguments;
  const sort = keys.map(({ field, isDescending }) => ({ column: field.text, isDescending }));
  const isCuttable = limit === null || (first === null && rest.length === 0);
  return known(sort) && isCuttable ? { ...none, sort, limit, count: count + 1 } : none;
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
