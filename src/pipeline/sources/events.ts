/**
 * The events a caller may read, as a source (SL-40, SL-44).
 *
 * The event store states its table and how a term is looked for; this part does not know it, so `app.ts` joins both.
 */
import type { Database } from 'bun:sqlite';
import { type Grants, grantsCoverEvents } from '../../auth/permissions.ts';
import { fold } from '../fold.ts';
import { microsOf } from '../micros.ts';
import type { CountKey, RowCondition } from './source.ts';
import { type CellForm, SqlSource, type SqlCondition } from './sql-source.ts';

/** A connection to the event store inside a snapshot. */
export interface EventStore {
  /** Table `events`: id, "index", sourcetype, source, host, data, fields (JSONB), created, updated, event_time, time, ascii. */
  readonly db: Database;
  /** Names of all indexes that hold an event. */
  indexNames(): readonly string[];
  /** `data` contains the text, by folding. Exact. */
  term(text: string): {
    readonly sql: string;
    readonly params: readonly (string | number)[];
    readonly usesIndex: boolean;
  };
}

const FOLD = 'svc_search_fold';
const TEXTS = ['index', 'sourcetype', 'source', 'host'];
/** Names longer than an index may be: covered only by rights on all of them. */
const NO_INDEX = 'x'.repeat(256);

/** The source, restricted to the indexes the grants cover. `onIndexUse` is told when the substring index helped. */
export function eventSource(store: EventStore, grants: Grants, onIndexUse: () => void): SqlSource {
  const options = { deterministic: true, directOnly: true } as const;
  store.db.function(FOLD, options, (text: string) => fold(text));
  const readable = readableIndexes(store, grants);
  return new SqlSource({
    name: 'events',
    db: store.db,
    from: 'events',
    columns: [
      { name: 'id', type: 'int', sql: 'id', form: 'plain' },
      { name: 'index', type: 'text', sql: '"index"', form: 'plain' },
      { name: 'sourcetype', type: 'text', sql: 'sourcetype', form: 'plain' },
      { name: 'source', type: 'text', sql: 'source', form: 'plain' },
      { name: 'host', type: 'text', sql: 'host', form: 'plain' },
      { name: 'data', type: 'text', sql: 'data', form: 'plain' },
      { name: 'created', type: 'time', sql: 'created', form: 'micros' },
      { name: 'updated', type: 'time', sql: 'updated', form: 'micros' },
      { name: 'extracted_fields', type: 'json', sql: 'json(fields) AS fields', form: 'json' },
      { name: '_time', type: 'time', sql: 'time', form: 'micros', isHidden: true },
      { name: 'event_time', type: 'time', sql: 'event_time', form: 'micros', isHidden: true },
    ],
    orders: { forward: 'id', newest: 'time DESC, id DESC' },
    restriction: restrictionOf(readable),
    readableIndexes: readable,
    condition: (condition) => conditionSql(store, condition, onIndexUse),
    countKey,
    hasWideIntegers: false,
  });
}

/** The indexes with events a caller may read; null for all there are and will be (EV-99). */
function readableIndexes(store: EventStore, grants: Grants): readonly string[] | null {
  if (grantsCoverEvents(grants, NO_INDEX, 'read')) return null;
  return store.indexNames().filter((index) => grantsCoverEvents(grants, index, 'read'));
}

function restrictionOf(readable: readonly string[] | null): SqlCondition | null {
  if (readable === null) return null;
  return oneOf('"index"', readable);
}

/** The expression equals one of the texts: a lone one by `=`, so that an index on it also gives the order. */
function oneOf(sql: string, values: readonly string[]): SqlCondition {
  if (values.length === 1) return { sql: `${sql} = ?`, params: [values[0]!] };
  // As one value, because a list may be longer than SQLite's limit of values.
  return { sql: `${sql} IN (SELECT value FROM json_each(?))`, params: [JSON.stringify(values)] };
}

const TIMES: Readonly<Record<string, string>> = {
  created: 'created',
  updated: 'updated',
  _time: 'time',
  event_time: 'event_time',
};

function conditionSql(
  store: EventStore,
  condition: RowCondition,
  onIndexUse: () => void,
): SqlCondition | null {
  const { column } = condition;
  if (condition.kind === 'contains-folded') {
    if (column !== 'data') return null;
    const { sql, params, usesIndex } = store.term(condition.text);
    if (usesIndex) onIndexUse();
    return { sql, params };
  }
  if (condition.kind === 'time') {
    const sql = Object.hasOwn(TIMES, column) ? TIMES[column]! : null;
    if (sql === null) return null;
    const parts: SqlCondition[] = [];
    if (condition.from !== null)
      parts.push({ sql: `${sql} >= ?`, params: [microsOf(condition.from)] });
    if (condition.to !== null)
      parts.push({
        sql: `${sql} ${condition.isOpenEnded ? '<' : '<='} ?`,
        params: [microsOf(condition.to)],
      });
    if (parts.length === 0) return null;
    return {
      sql: parts.map((part) => part.sql).join(' AND '),
      params: parts.flatMap(({ params }) => [...params]),
    };
  }
  if (!TEXTS.includes(column)) return null;
  const sql = column === 'index' ? '"index"' : column;
  if (condition.kind === 'equals') {
    return oneOf(sql, condition.values);
  }
  if (column === 'index') return indexCondition(store, condition.values);
  // Letters of ASCII fold as SQLite lowers them; other texts go through the function.
  return oneOf(`CASE ascii WHEN 1 THEN lower(${sql}) ELSE ${FOLD}(${sql}) END`, condition.values);
}

/** The few names there are, so that the index on them can be used. */
function indexCondition(store: EventStore, folded: readonly string[]): SqlCondition {
  const names = store.indexNames().filter((name) => folded.includes(fold(name)));
  return oneOf('"index"', names);
}

/** Text columns as they are; members of `extracted_fields` as JSON text, which keeps their type. */
function countKey({
  column,
  member,
}: CountKey): { readonly sql: string; readonly form: CellForm } | null {
  if (member === null) {
    if (!TEXTS.includes(column)) return null;
    return { sql: column === 'index' ? '"index"' : column, form: 'plain' };
  }
  // Letters and digits only: nothing in it can end the path.
  if (column !== 'extracted_fields' || !/^[A-Za-z][A-Za-z0-9]*$/.test(member)) return null;
  return { sql: `fields -> '$.${member}'`, form: 'json' };
}
