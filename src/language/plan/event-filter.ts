/** Selects events row by row: for tails, counts over time, field lists and deletion. */
import type { Stage } from '../syntax/ast.ts';
import type { StageContext } from '../command.ts';
import { timeFromMicros } from '../expressions/time.ts';
import { parseQuery } from '../syntax/parse.ts';
import { Problem } from '../syntax/problem.ts';
import { createContext } from './query-context.ts';
import { EVENT_COLUMNS } from '../sources/source.ts';
import { checkQuery, runQuery, type RunWatch } from '../run/run.ts';
import { Schema } from '../run/schema.ts';
import { createMeter } from '../run/budget.ts';
import { type Row, valueOfJson } from '../expressions/value.ts';

/** Times are microseconds. */
interface FilteredEvent {
  readonly id: number;
  readonly index: string;
  readonly sourcetype: string;
  readonly source: string;
  readonly host: string;
  readonly data: string;
  readonly created: number;
  readonly updated: number;
  readonly fields: string;
  readonly event_time: number | null;
}

interface FilterOptions {
  readonly now: string;
  readonly timezone?: string;
  readonly implicitTerms: boolean;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly extract: StageContext['extract'];
}

/** Positions of the events that remain. Throws Problem. */
type EventFilter = (events: readonly FilteredEvent[]) => number[];

/** No name a query can write. */
const POSITION = '\0position';
const COMMANDS = ['search', 'filter', 'where', 'eval', 'annotate', 'rex', 'extract', 'fillnull'];
const SCHEMA = new Schema([...EVENT_COLUMNS, { name: POSITION, type: 'int', isHidden: true }]);

/** Throws Problem for a text that does not parse or does more than select. */
export function createEventFilter(text: string, options: FilterOptions): EventFilter {
  const query = parseQuery(text, options);
  for (const [index, stage] of query.stages.entries()) {
    if (COMMANDS.includes(stage.command) && isPlain(stage)) continue;
    const problem = new Problem(
      'bad_request',
      `Only stages that look at one event at a time can be used here, not this ${stage.command}`,
      { allowed: COMMANDS },
    );
    throw problem.in(index + 1, stage.command, stage.word);
  }
  const startedAt = performance.now();
  const { tick } = createMeter(options, startedAt);
  // Time is counted over all calls; memory is not held from one call to the next.
  const watchOfCall = (): RunWatch => ({
    meter: { tick, hold: createMeter(options, startedAt).hold },
    onRead: () => {},
  });
  const { context } = createContext({
    ...options,
    parameters: {},
    joinMaxRows: 0,
    source: () => null,
    datasetNames: [],
    readableIndexes: () => null,
    savedSearch: () => ({ kind: 'missing' }),
    watch: watchOfCall(),
  });
  const result = checkQuery(query, context, SCHEMA);
  const column = result.indexOf(POSITION);
  return (events) => {
    const rows = events.map(rowOf);
    const { batches } = runQuery(query, context, watchOfCall(), {
      schema: SCHEMA,
      batches: [rows],
    });
    const kept: number[] = [];
    for (const batch of batches) for (const row of batch) kept.push(row[column] as number);
    return kept;
  };
}

function isPlain({ command, arguments: args }: Stage): boolean {
  if (command !== 'search' || args.form !== 'flag') return true;
  return Object.keys(args.flags).every((flag) => flag === 'filter' || flag === 'exclude');
}

function rowOf(event: FilteredEvent, position: number): Row {
  const { id, index, sourcetype, source, host, data, created, updated, event_time: time } = event;
  return [
    id,
    index,
    sourcetype,
    source,
    host,
    data,
    timeFromMicros(created),
    timeFromMicros(updated),
    valueOfJson(event.fields) ?? null,
    timeFromMicros(time ?? created),
    time === null ? null : timeFromMicros(time),
    position,
  ];
}
