/** `svc events prune`: applies retention, or deletes selected events. Works while a server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from '../../../events/store/schema.ts';
import { timeText } from '../../../events/event-time.ts';
import { DirectStore } from '../../../events/store/direct-store.ts';
import { writerSettings } from '../../../events/events.ts';
import { makeEventFilter } from '../../../event-queries.ts';
import { NO_HINT } from '../../../events/parts/group-rows.ts';
import { EventReader } from '../../../events/store/reader.ts';
import { filteredRows, QueryProblem } from '../../../events/read/query-filter.ts';
import {
  previewIds,
  previewOrder,
  previewRetention,
} from '../../../events/retention/prune-preview.ts';
import { openAccounts } from '../../../app.ts';
import { Retention } from '../../../events/retention/retention.ts';
import { AppError } from '../../../base/errors.ts';
import type { Config } from '../../../config/settings.ts';
import type { Pruned } from '../../../events/retention/retention.ts';
import type { Invocation } from '../../command.ts';
import { commandLog, loadInvocation } from '../../configuration.ts';
import { answerText, textTable } from '../../printer.ts';

const DAY_MICROS = 86_400_000_000;

/** Selection by flags; null: apply retention. */
interface Chosen {
  readonly index: string | null;
  /** Microseconds. */
  readonly createdBefore: number | null;
  /** Restricts the selection. */
  readonly query: string | null;
}

export async function prune(invocation: Invocation): Promise<number | string> {
  const chosen = chosenBy(invocation);
  const { config } = await loadInvocation(invocation);
  const pruned = existsSync(join(config.state_dir, EVENTS_FILE))
    ? await pruneStore(invocation, config, chosen)
    : [];
  if (pruned === null) return 1;
  const views = pruned.map((one) => ({
    ...one,
    oldest: timeText(one.oldest),
    newest: timeText(one.newest),
  }));
  return answerText(invocation, views, () => {
    if (views.length === 0) return 'Nothing to delete.\n';
    const columns = ['index', 'events', 'bytes', 'oldest', 'newest', 'rule'] as const;
    return textTable(
      columns,
      views.map((one) => columns.map((name) => String(one[name]))),
    );
  });
}

function chosenBy({ options, outside }: Invocation): Chosen | null {
  const { index, olderThan, query } = options;
  if (index === undefined && olderThan === undefined && query === undefined) return null;
  const days = olderThan === undefined ? null : /^(\d{1,6})d$/.exec(String(olderThan).trim());
  if (olderThan !== undefined && days === null)
    throw new AppError('usage', `--older-than: must be days such as 30d, not '${olderThan}'`);
  const isAsked = outside.input.isTerminal || options['dryRun'] === true || options['yes'] === true;
  if (query !== undefined && !isAsked)
    throw new AppError('usage', '--query: needs --yes where no terminal can ask');
  return {
    query: query === undefined ? null : String(query),
    index: index === undefined ? null : String(index),
    createdBefore: days === null ? null : Date.now() * 1000 - Number(days[1]) * DAY_MICROS,
  };
}

/** Null when the user did not confirm. */
async function pruneStore(
  invocation: Invocation,
  config: Config,
  chosen: Chosen | null,
): Promise<Pruned[] | null> {
  const { options } = invocation;
  const store = new DirectStore(config.state_dir, writerSettings(config));
  try {
    const ids = chosen === null ? null : matchingIds(config, chosen);
    const due = () => preview(store, config, { chosen, ids });
    if (options['dryRun'] === true) return await due();
    if (chosen !== null && !(await isConfirmed(invocation, due))) return null;
    return await withRetention(invocation, config, store, async (retention) => {
      if (chosen === null) return retention.run();
      const { index, createdBefore } = chosen;
      const order = { kind: 'prune', index, createdBefore, bytes: null, ids } as const;
      const pruned = await retention.prune(order, ruleOf(chosen));
      await retention.reclaim();
      return pruned;
    });
  } finally {
    store.close();
  }
}

function ruleOf({ createdBefore, query }: Chosen): 'age' | 'query' {
  return createdBefore === null || query !== null ? 'query' : 'age';
}

/** Null without a query. */
function matchingIds(
  { events: { search }, state_dir: stateDir }: Config,
  { index, createdBefore, query }: Chosen,
): number[] | null {
  if (query === null) return null;
  const condition = {
    sql: '(?1 IS NULL OR "index" = ?1) AND (?2 IS NULL OR created < ?2)',
    params: [index, createdBefore] as unknown as number[],
  };
  try {
    const filter = makeEventFilter({
      text: query,
      now: new Date().toISOString().replace('Z', '000Z'),
      implicitTerms: search.implicit_terms,
      timeoutMs: Number.POSITIVE_INFINITY,
      memoryBytes: search.memory_bytes,
    });
    const ids: number[] = [];
    using reader = reading(stateDir);
    const wanted = { where: () => condition, hint: NO_HINT };
    for (const rows of filteredRows(reader.value, wanted, { order: 'id', filter }))
      for (const { id } of rows) ids.push(id);
    return ids;
  } catch (error) {
    if (!(error instanceof QueryProblem)) throw error;
    throw new AppError('usage', `--query: ${(error.body as { error: string }).error}`);
  }
}

/** One snapshot of the store. */
function reading(stateDir: string): Disposable & { readonly value: EventReader } {
  const value = new EventReader(stateDir);
  value.begin();
  return {
    value,
    [Symbol.dispose]: () => {
      value.end();
      value.close();
    },
  };
}

async function preview(
  store: DirectStore,
  config: Config,
  { chosen, ids }: { readonly chosen: Chosen | null; readonly ids: readonly number[] | null },
): Promise<Pruned[]> {
  using reader = reading(config.state_dir);
  if (ids !== null) return previewIds(reader.value, ids);
  if (chosen !== null) return previewOrder(reader.value, chosen, ruleOf(chosen));
  return previewRetention(reader.value, config.events.retention, {
    totals: store.indexTotals(),
    sizeInUse: store.sizeInUse(),
    now: Date.now() * 1000,
  });
}

async function isConfirmed(
  { options, outside }: Invocation,
  due: () => Promise<Pruned[]>,
): Promise<boolean> {
  if (options['yes'] === true || !outside.input.isTerminal) return true;
  const events = (await due()).reduce((sum, one) => sum + one.events, 0);
  const answer = await outside.input.ask(`Delete ${events} event(s) for good? [y/N] `, false);
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

async function withRetention(
  invocation: Invocation,
  config: Config,
  store: DirectStore,
  work: (retention: Retention) => Promise<Pruned[]>,
): Promise<Pruned[]> {
  const log = commandLog(config, invocation.outside);
  const accounts = await openAccounts(config, log);
  try {
    const { audit, clock } = accounts;
    return await work(new Retention({ events: store, audit, clock, log, config: () => config }));
  } finally {
    await accounts.close();
  }
}
