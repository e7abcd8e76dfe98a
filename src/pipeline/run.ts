/**
 * Runs parsed stages: each is fitted to the columns the one before gives, then rows stream through in batches.
 *
 * A stage whose columns depend on its rows is run to its end before the next is fitted. The same code checks a query
 * without reading anything (SL-173): everything that can be told without rows is told then.
 */
import type { Query, Stage } from './ast.ts';
import { findCommand } from './command-table.ts';
import type { LazyTable, NestedQuery, StageContext } from './command.ts';
import { MAX_SAVED_SEARCHES } from './limits.ts';
import type { Compiled, Meter } from './operator.ts';
import { holdRows } from './operator.ts';
import { Problem } from './problem.ts';
import { Schema } from './schema.ts';
import type { Source, SourceOrder } from './sources/source.ts';
import type { Row } from './value.ts';

/** What one stage did, for `explain`. */
export interface StageTrace {
  readonly stage: number;
  readonly command: string;
  rowsOut: number;
  ms: number;
}

/** What a run tells whoever watches it. */
export interface RunWatch {
  readonly meter: Meter;
  /** Called with every batch that leaves a source. */
  readonly onRead: (rows: number) => void;
  /** One entry per stage of the outermost query, when wanted. */
  readonly traces?: StageTrace[];
  /** The query is the outermost one: nothing but what it shows is used of its rows. */
  readonly isOutermost?: boolean;
  /** A statement that does the work of the first stages, or null. */
  readonly plan?: (read: PlannedRead) => PlannedPrefix | null;
}

/** A source and the stages on it, as the planner sees them. */
export interface PlannedRead {
  readonly source: Source;
  readonly order: SourceOrder;
  readonly stages: readonly Stage[];
  readonly context: StageContext;
  readonly meter: Meter;
  readonly isOutermost: boolean;
}

/** Rows that already went through the first stages. */
export interface PlannedPrefix {
  /** How many stages are done, at least one. */
  readonly stages: number;
  readonly schema: Schema;
  readonly batches: Iterable<Row[]>;
}

/** Rows with their columns. */
export interface Table {
  readonly schema: Schema;
  readonly batches: Iterable<Row[]>;
}

const EMPTY: Table = { schema: new Schema([]), batches: [] };

/** The columns a query gives, as far as they are known without rows. Throws the first problem. */
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
  return command.bindStage(stage, input, context);
}

/** Runs work for a stage; what goes wrong in it is told as the stage's. */
function placed<T>(stage: Stage, index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) throw error.in(index + 1, stage.command, stage.word);
    throw error;
  }
}

/** Runs work inside a saved search; what goes wrong in it is told at its name (SL-130). */
function nested<T>({ name, place }: Pick<NestedQuery, 'name' | 'place'>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Problem ? problemInside(error, { name, place }) : error;
  }
}

function problemInside(
  problem: Problem,
  { name, place }: Pick<NestedQuery, 'name' | 'place'>,
): Problem {
  // Whose fault it is is no matter of the saved search.
  const isPlain = problem.code.startsWith('saved_search') || problem.code.endsWith('_budget');
  const text = isPlain ? problem.text : `In saved search '${name}': ${problem.text}`;
  return new Problem(problem.code, text, {
    place,
    ...(problem.allowed && { allowed: problem.allowed }),
  });
}

/** The rows of a query. They are read while the batches are taken; closing the iterator stops everything. */
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
    const result = placed(stage, index, () =>
      runStage(query.stages.slice(index), started, context, watch),
    );
    table = traced(placedTable(stage, index, result.table), stage, index, watch);
    index += result.stages - 1;
  }
  return table ?? EMPTY;
}

/** For a query inside another. */
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
    return {
      table: { schema: table.schema, batches: nestedBatches(bound, table.batches) },
      stages: 1,
    };
  }
  if (bound.kind !== 'source') return { table: apply(bound, input!, watch), stages: 1 };
  const { source, order } = bound;
  const planned = watch.plan?.({
    source,
    order,
    stages,
    context,
    meter: watch.meter,
    isOutermost: watch.isOutermost ?? false,
  });
  if (planned) return { table: planned, stages: planned.stages };
  const read = { schema: source.schema, batches: counted(source.read(order), watch) };
  return { table: apply(bound.then, read, watch), stages: 1 };
}

function* counted(batches: Iterable<Row[]>, { meter, onRead }: RunWatch): Generator<Row[]> {
  for (const batch of batches) {
    onRead(batch.length);
    meter.tick();
    yield batch;
  }
}

function apply(bound: Compiled, input: Table, watch: RunWatch): Table {
  if (bound.kind === 'rows') {
    return { schema: bound.schema, batches: operated(bound, input.batches, watch.meter) };
  }
  const rows: Row[] = [];
  for (const batch of input.batches) {
    holdRows(watch.meter, batch);
    for (const row of batch) rows.push(row);
  }
  const result = bound.run(rows, watch.meter);
  return { schema: result.schema, batches: result.rows.length === 0 ? [] : [result.rows] };
}

function* operated(
  bound: Extract<Compiled, { kind: 'rows' }>,
  batches: Iterable<Row[]>,
  meter: Meter,
): Generator<Row[]> {
  const operator = bound.start(meter);
  if (!operator.isDone?.()) {
    for (const batch of batches) {
      const made = operator.push(batch);
      meter.tick();
      if (made.length > 0) yield made;
      if (operator.isDone?.()) break;
    }
  }
  const last = operator.finish();
  if (last.length > 0) yield last;
}

function placedTable(stage: Stage, index: number, table: Table): Table {
  return { schema: table.schema, batches: placedBatches(stage, index, table.batches) };
}

function* placedBatches(stage: Stage, index: number, batches: Iterable<Row[]>): Generator<Row[]> {
  try {
    yield* batches;
  } catch (error) {
    if (error instanceof Problem) throw error.in(index + 1, stage.command, stage.word);
    throw error;
  }
}

function* nestedBatches(bound: NestedQuery, batches: Iterable<Row[]>): Generator<Row[]> {
  try {
    yield* batches;
  } catch (error) {
    throw error instanceof Problem ? problemInside(error, bound) : error;
  }
}

function traced(table: Table, stage: Stage, index: number, { traces }: RunWatch): Table {
  if (!traces) return table;
  const trace: StageTrace = { stage: index + 1, command: stage.command, rowsOut: 0, ms: 0 };
  traces.push(trace);
  return { schema: table.schema, batches: watched(table.batches, trace) };
}

/** Time includes that of the stages before, which work when this one asks. */
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

/** A query of its own, checked now and read when it is wanted (SL-120). */
export function prepareQuery(query: Query, context: StageContext, watch: RunWatch): LazyTable {
  const inner = innerWatch(watch);
  const known = checkQuery(query, context);
  known.useShown();
  return {
    schema: known,
    read: (_meter, maxRows) => {
      const { schema, batches } = runQuery(query, context, inner);
      return { schema, rows: readAll(batches, watch.meter, maxRows) };
    },
  };
}

/** A source with what is done to its rows, read when it is wanted. */
export function prepareSource(
  source: Source,
  then: Compiled | undefined,
  watch: RunWatch,
): LazyTable {
  const known = then?.schema ?? source.schema;
  known.useShown();
  return {
    schema: known,
    read: (_meter, maxRows) => {
      const read: Table = {
        schema: source.schema,
        batches: counted(source.read('forward'), watch),
      };
      const { schema, batches } = then ? apply(then, read, watch) : read;
      return { schema, rows: readAll(batches, watch.meter, maxRows) };
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

/** Refuses saved searches that call themselves or go too deep; `stack` is how this one was reached. */
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
