import { csvCell } from '../../base/text/csv-cell.ts';
import type { Format } from '../../tables/read/format.ts';
import type { TypedFormat } from './result-file.ts';
import type { RunFigures } from './run-figures.ts';
import type { StageTrace, Table } from './run.ts';
import { isTime } from '../expressions/time.ts';
import { isArray, jsonOf, type Row, type Value } from '../expressions/value.ts';

/** Formats written as the rows come; the others are in `result-file.ts`. */
export type TextFormat = Exclude<Format, TypedFormat>;

export interface ResultFigures {
  readonly elapsedMs: () => number;
  readonly scanned: () => number;
  readonly notices: readonly string[];
  readonly plan: (() => ResultPlan) | null;
}

interface ResultPlan {
  readonly sqlStages: number;
  readonly indexUsed: boolean;
  readonly columnsUsed: boolean;
  /** Read of the JSON of sealed events. */
  readonly plainFields: readonly string[];
  readonly stages: readonly StageTrace[];
}

const CHUNK_CHARACTERS = 64 * 1024;

/** Pieces of about 64 KiB. */
export function* writeResult(
  { schema, batches }: Table,
  format: TextFormat,
  limit: number,
  figures: ResultFigures,
): Generator<string, RunFigures> {
  const columns = schema.shown.map(({ column, index }) => ({ name: column.name, index }));
  const types = columns.map(() => new Set<string>());
  const writer = writers[format](columns);
  let text = writer.head;
  let count = 0;
  let isTruncated = false;
  for (const row of rowsOf(batches)) {
    if (count === limit) {
      isTruncated = true;
      break;
    }
    columns.forEach(({ index }, at) => noteType(types[at]!, row[index] ?? null));
    text += writer.row(row, count);
    count++;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = '';
  }
  const { plan } = figures;
  const made = plan?.();
  const meta = {
    count,
    truncated: isTruncated,
    elapsed_ms: Math.round(figures.elapsedMs()),
    scanned: figures.scanned(),
    notices: isTruncated ? [...figures.notices, `Result cut at ${limit} rows`] : figures.notices,
    columns: columns.map(({ name }, at) => ({ name, type: typeName(types[at]!) })),
    ...(made && {
      plan: {
        sql_stages: made.sqlStages,
        stages: made.stages.map(({ stage, command, rowsOut, ms }) => ({
          stage,
          command,
          rows_out: rowsOut,
          ms: Math.round(ms * 10) / 10,
        })),
        index_used: made.indexUsed,
        columns_used: made.columnsUsed,
        fields_without_column: made.plainFields,
      },
    }),
  };
  yield text + writer.tail(JSON.stringify(meta));
  return { rows: count, scanned: meta.scanned, ms: meta.elapsed_ms, isCut: isTruncated };
}

function* rowsOf(batches: Iterable<Row[]>): Generator<Row> {
  for (const batch of batches) yield* batch;
}

interface ShownColumn {
  readonly name: string;
  readonly index: number;
}

interface Writer {
  readonly head: string;
  row(row: Row, count: number): string;
  tail(meta: string): string;
}

const writers: Readonly<Record<TextFormat, (columns: readonly ShownColumn[]) => Writer>> = {
  json: (columns) => {
    const object = objectWriter(columns);
    return {
      head: '{"rows":[',
      row: (row, count) => (count === 0 ? '' : ',') + object(row),
      tail: (meta) => `],"meta":${meta}}`,
    };
  },
  ndjson: (columns) => {
    const object = objectWriter(columns);
    return { head: '', row: (row) => `${object(row)}\n`, tail: (meta) => `{"$meta":${meta}}\n` };
  },
  csv: (columns) => ({
    head: columns.length === 0 ? '' : `${columns.map(({ name }) => csvCell(name)).join(',')}\r\n`,
    row: (row) => `${columns.map(({ index }) => cellOf(row[index] ?? null)).join(',')}\r\n`,
    tail: () => '',
  }),
};

function objectWriter(columns: readonly ShownColumn[]): (row: Row) => string {
  const leads = columns.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  if (columns.length === 0) return () => '{}';
  return (row) => {
    let text = '';
    for (let at = 0; at < columns.length; at++)
      text += leads[at]! + jsonOf(row[columns[at]!.index] ?? null);
    return `${text}}`;
  };
}

/** Only texts can be formulas; a negative number is none. */
function cellOf(value: Value): string {
  if (value === null) return '';
  return csvCell(typeof value === 'string' ? value : jsonOf(value));
}

function noteType(seen: Set<string>, value: Value): void {
  if (value === null) return;
  if (typeof value === 'string') seen.add(isTime(value) ? 'time' : 'string');
  else if (typeof value === 'bigint') seen.add('number');
  else seen.add(typeof value === 'object' ? (isArray(value) ? 'array' : 'object') : typeof value);
}

function typeName(seen: ReadonlySet<string>): string {
  const types = [...seen];
  if (types.length === 0) return 'null';
  if (types.length === 1) return types[0]!;
  return types.every((type) => type === 'string' || type === 'time') ? 'string' : 'mixed';
}
