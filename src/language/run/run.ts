/**
 * Runs parsed stages: each is bound to the columns of the one before, then rows stream through in batches.
 *
 * A stage whose columns depend on its rows is run to its end before the next is bound. The same code checks a query
 * without reading rows and finds every error that does not depend on them.
 */
import type { Query, Stage } from '../syntax/ast.ts';
import { isOutgrown } from './budget.ts';
import { findCommand } from '../command-table.ts';
import type { LazyTable, NestedQuery, StageContext } from '../command.ts';
import { MAX_MADE_COLUMNS, MAX_SAVED_SEARCHES } from '../limits.ts';
import { holdRows, requireAtMost, type Compiled, type Meter, type Operator } from './operator.ts';
import { Problem } from '../syntax/problem.ts';
import { Schema } from './schema.ts';
import type { Source, SourceOrder } from '../sources/source.ts';
import type { Row } from '../expressions/value.ts';

export interface StageTrace {
  readonly stage: number;
  readonly command: string;
  rowsOut: number;
  ms: number;
}

export interface RunWatch {
  readonly meter: Meter;
  /** Called with every batch that leaves a source. */
  readonly onRead: (rows: number) => void;
  /** One entry per stage of the outermost query, when requested. */
  readonly traces?: StageTrace[];
  /** Only the columns it shows are used of its rows. */
  readonly isOutermost?: boolean;
  /** A statement that does the work of the first stages, or null. */
  readonly plan?: (read: PlannedRead) => PlannedPrefix | null;
}

export interface PlannedRead extends Pick<RunWatch, 'meter' | 'onRead'> {
  readonly source: Source;
  readonly order: SourceOrder;
  readonly stages: readonly Stage[];
  readonly context: StageContext;
  readonly isOutermost: boolean;
}

export interface PlannedPrefix {
  /** At least one. */
  readonly stages: number;
  readonly schema: Schema;
  readonly batches: Iterable<Row[]>;
}

export interface Table {
  readonly schema: Schema;
  readonly batches: Iterable<Row[]>;
}

const EMPTY: Table = { schema: new Schema([]), batches: [] };

/** As far as columns are known without rows. Throws the first problem. */
export function checkQuery(
  query: Query,
  context: StageContext,
  input: Schema | null = null,
): Schema {
  let schema = input;
  query.stages.forEach((stage, index) => {
    schema = placed(stage, index, () => checkStage(stage, schema, context));
  });
  if (query.problem) throw query.problem;
  return schema ?? EMPTY.schema;
}

const BRING_COLUMNS = ['join', 'append', 'lookup'];

function checkStage(stage: Stage, input: Schema | null, context: StageContext): Schema {
  const bound = bindStage(stage, input, context);
  if (bound.kind === 'nested')
    return nested(bound, () => checkQuery(bound.query, bound.context, input));
  return bound.kind === 'source' ? bound.then.schema : bound.schema;
}

function bindStage(stage: Stage, input: Schema | null, context: StageContext) {
  const command = findCommand(stage.command)!;
  if (input === null && !command.isSource) {
    throw new Problem('missing_input', `${stage.command} command requires input data`);
  }
  const bound = command.bindStage(stage, input, context);
  if (bound.kind !== 'nested' && !BRING_COLUMNS.includes(stage.command)) {
    const [before, after] =
      bound.kind === 'source' ? [bound.source.schema, bound.then.schema] : [input!, bound.schema];
    const made = after.columns.filter(({ name }) => !before.has(name)).length;
    requireAtMost(made, MAX_MADE_COLUMNS, 'columns');
  }
  return bound;
}

export function placed<T>(stage: Stage, index: number, work: () => T, meter?: Meter): T {
  try {
    return work();
  } catch (error) {
    throw inStage(error, stage, index, meter);
  }
}

/** With a meter also converts the runtime's out-of-memory errors. */
function inStage(error: unknown, stage: Stage, index: number, meter?: Meter): unknown {
  if (error instanceof Problem) return error.in(index + 1, stage.command, stage.word);
  if (!meter || !isOutgrown(error)) return error;
  return placed(stage, index, () => meter.hold(Number.POSITIVE_INFINITY));
}

type Named = Pick<NestedQuery, 'name' | 'place'>;

function nested<T>(named: Named, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw inNested(error, named);
  }
}

function inNested(error: unknown, { name, place }: Named): unknown {
  if (!(error instanceof Problem)) return error;
  // Budget errors do not depend on the saved search, and errors of saved searches name it already.
  const isPlain = error.code.startsWith('saved_search') || error.code.endsWith('_budget');
  const text = isPlain ? error.text : `In saved search '${name}': ${error.text}`;
  return new Problem(error.code, text, { place, ...(error.allowed && { allowed: error.allowed }) });
}

/** Rows are read while the batches are taken; closing the iterator stops everything. */
export function runQuery(
  query: Query,
  context: StageContext,
  watch: RunWatch,
  input: Table | null = null,
): Table {
  if (query.problem) throw query.problem;
  let table = input;
  for (let index = 0; index < query.stages.length; index++) {
    const stage = query.stages[index]!;
    const started = table;
    const result = placed(
      stage,
      index,
      () => runStage(query.stages.slice(index), started, context, watch),
      watch.meter,
    );
    const { schema, batches } = result.table;
    const inPlace = placedBatches(batches, (error) => inStage(error, stage, index, watch.meter));
    table = { schema, batches: traced(inPlace, stage, index, watch) };
    index += result.stages - 1;
  }
  return table ?? EMPTY;
}

function innerWatch({ traces: _traces, isOutermost: _outermost, ...inner }: RunWatch): RunWatch {
  return inner;
}

function runStage(
  stages: readonly Stage[],
  input: Table | null,
  context: StageContext,
  watch: RunWatch,
): { table: Table; stages: number } {
  const [stage] = stages;
  const bound = bindStage(stage!, input?.schema ?? null, context);
  if (bound.kind === 'nested') {
    const inner = innerWatch(watch);
    const table = nested(bound, () => runQuery(bound.query, bound.context, inner, input));
    const batches = placedBatches(table.batches, (error) => inNested(error, bound));
    return { table: { schema: table.schema, batches }, stages: 1 };
  }
  if (bound.kind !== 'source') return { table: apply(bound, input!, watch), stages: 1 };
  const { source, order } = bound;
  const planned = watch.plan?.({
    source,
    order,
    stages,
    context,
    meter: watch.meter,
    onRead: watch.onRead,
    isOutermost: watch.isOutermost ?? false,
  });
  if (planned) return { table: planned, stages: planned.stages };
  const read = { schema: source.schema, batches: counted(source.read(order), watch) };
  return { table: apply(bound.then, read, watch), stages: 1 };
}

export function* counted(
  batches: Iterable<Row[]>,
  { meter, onRead }: Pick<RunWatch, 'meter' | 'onRead'>,
): Generator<Row[]> {
  for (const batch of batches) {
    onRead(batch.length);
    meter.tick();
    yield batch;
  }
}

function apply(bound: Compiled, input: Table, watch: RunWatch): Table {
  if (bound.kind === 'rows') {
    return {
      schema: bound.schema,
      batches: operated(bound.start(watch.meter), input.batches, watch.meter),
    };
  }
  const rows: Row[] = [];
  for (const batch of input.batches) {
    holdRows(watch.meter, batch);
    for (const row of batch) rows.push(row);
  }
  const result = bound.run(rows, watch.meter);
  return { schema: result.schema, batches: result.rows.length === 0 ? [] : [result.rows] };
}

export function* operated(
  operator: Operator,
  batches: Iterable<Row[]>,
  { tick }: Pick<Meter, 'tick'>,
): Generator<Row[]> {
  if (!operator.isDone?.()) {
    for (const batch of batches) {
      const made = operator.push(batch);
      tick();
      if (made.length > 0) yield made;
      if (operator.isDone?.()) break;
    }
  }
  const last = operator.finish();
  if (last.length > 0) yield last;
}

function* placedBatches(
  batches: Iterable<Row[]>,
  place: (error: unknown) => unknown,
): Generator<Row[]> {
  try {
    yield* batches;
  } catch (error) {
    throw place(error);
  }
}

function traced(
  batches: Iterable<Row[]>,
  stage: Stage,
  index: number,
  { traces }: RunWatch,
): Iterable<Row[]> {
  if (!traces) return batches;
  const trace: StageTrace = { stage: index + 1, command: stage.command, rowsOut: 0, ms: 0 };
  traces.push(trace);
  return watched(batches, trace);
}

/** Time includes the stages before, which work when this one asks. */
function* watched(batches: Iterable<Row[]>, trace: StageTrace): Generator<Row[]> {
  const iterator = batches[Symbol.iterator]();
  try {
    for (;;) {
      const startedAt = performance.now();
      const { done, value } = iterator.next();
      trace.ms += performance.now() - startedAt;
      if (done) return;
      trace.rowsOut += value.length;
      yield value;
    }
  } finally {
    iterator.return?.();
  }
}

export function prepareQuery(query: Query, context: StageContext, watch: RunWatch): LazyTable {
  const inner = innerWatch(watch);
  return prepared(checkQuery(query, context), () => runQuery(query, context, inner), watch);
}

export function prepareSource(
  source: Source,
  then: Compiled | undefined,
  watch: RunWatch,
): LazyTable {
  const { schema } = source;
  return prepared(
    then?.schema ?? schema,
    () => {
      const read: Table = { schema, batches: counted(source.read('forward'), watch) };
      return then ? apply(then, read, watch) : read;
    },
    watch,
  );
}

function prepared(known: Schema, run: () => Table, { meter }: RunWatch): LazyTable {
  known.useShown();
  return {
    schema: known,
    read: (maxRows) => {
      const { schema, batches } = run();
      return { schema, rows: readAll(batches, meter, maxRows) };
    },
  };
}

function readAll(batches: Iterable<Row[]>, meter: Meter, maxRows: number): Row[] {
  const rows: Row[] = [];
  for (const batch of batches) {
    if (rows.length + batch.length > maxRows) {
      throw new Problem('join_limit', `Right side has more than ${maxRows} rows`);
    }
    holdRows(meter, batch);
    for (const row of batch) rows.push(row);
  }
  return rows;
}

/** `stack` is how this saved search was reached. */
export function requireNoCycle(
  name: string,
  key: string,
  stack: readonly { name: string; key: string }[],
): void {
  const from = stack.findIndex((one) => one.key === key);
  if (from >= 0) {
    const names = [...stack.slice(from).map((one) => one.name), name];
    throw new Problem('saved_search_cycle', `Saved search cycle: ${names.join(' -> ')}`);
  }
  if (stack.length >= MAX_SAVED_SEARCHES) {
    throw new Problem('too_large', `Saved searches may be ${MAX_SAVED_SEARCHES} deep`);
  }
}
