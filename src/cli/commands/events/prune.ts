/** `svc events prune`: applies retention, or deletes selected events. Works while a server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import type { Config } from '../../../config/schema.ts';
import type { DirectStore } from '../../../events/store/direct-store.ts';
import type { Pruned, Retention } from '../../../events/retention/retention.ts';
import type { Command, Invocation } from '../../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../../configuration.ts';
import { textTable } from '../../text-table.ts';
import { describeJson, wantsJson } from '../../json-output.ts';

const DAY_MICROS = 86_400_000_000;

/** Selection by flags; null: apply retention. */
interface Chosen {
  readonly index: string | null;
  /** Microseconds. */
  readonly createdBefore: number | null;
  /** Restricts the selection. */
  readonly query: string | null;
}

export const prune: Command = {
  name: 'prune',
  summary: 'Delete old events by the rules of retention, or those that are selected.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser
      .option('--dry-run', 'Delete nothing; print what would go.')
      .option('--index <name>', 'Only events of this index, whatever the rules say.')
      .option('--older-than <days>', 'Only events older than this, such as 30d.')
      .option('--query <query>', "Only events that match, such as 'host=a | where status>499'.")
      .option('--yes', 'Do not ask.');
    describeJson(parser);
  },
  run: async (invocation) => {
    const { outside } = invocation;
    const chosen = chosenBy(invocation);
    const { config } = await loadInvocation(invocation);
    const { EVENTS_FILE } = await import('../../../events/store/schema.ts');
    const pruned = existsSync(join(config.state_dir, EVENTS_FILE))
      ? await pruneStore(invocation, config, chosen)
      : [];
    if (pruned === null) return 1;
    const { timeText } = await import('../../../events/event-time.ts');
    const views = pruned.map((one) => ({
      ...one,
      oldest: timeText(one.oldest),
      newest: timeText(one.newest),
    }));
    if (wantsJson(invocation)) outside.out(`${JSON.stringify(views)}\n`);
    else if (views.length === 0) outside.out('Nothing to delete.\n');
    else {
      const rows = views.map(({ index, events, bytes, oldest, newest, rule }) => [
        index,
        String(events),
        String(bytes),
        oldest,
        newest,
        rule,
      ]);
      outside.out(textTable(['index', 'events', 'bytes', 'oldest', 'newest', 'rule'], rows));
    }
    return 0;
  },
};

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
  const { DirectStore } = await import('../../../events/store/direct-store.ts');
  const { writerSettings } = await import('../../../events/events.ts');
  const store = new DirectStore(config.state_dir, writerSettings(config));
  try {
    const ids = chosen === null ? null : await matchingIds(store, config, chosen);
    const due = () => preview(store, config, { chosen, ids });
    if (options['dryRun'] === true) return await due();
    if (chosen !== null && !(await isConfirmed(invocation, due))) return null;
    return await withRetention(invocation, config, store, (retention) => {
      if (chosen === null) return retention.run();
      const { index, createdBefore } = chosen;
      const order = { kind: 'prune', index, createdBefore, bytes: null, ids } as const;
      return retention.prune(order, ruleOf(chosen));
    });
  } finally {
    store.close();
  }
}

function ruleOf({ createdBefore, query }: Chosen): 'age' | 'query' {
  return createdBefore === null || query !== null ? 'query' : 'age';
}

/** Null without a query. */
async function matchingIds(
  { store: { db } }: DirectStore,
  { events: { search } }: Config,
  { index, createdBefore, query }: Chosen,
): Promise<number[] | null> {
  if (query === null) return null;
  const { makeEventFilter } = await import('../../../event-queries.ts');
  const { filteredRows, QueryProblem } = await import('../../../events/read/query-filter.ts');
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
    for (const rows of filteredRows(db, condition, { order: 'id', filter }))
      for (const { id } of rows) ids.push(id);
    return ids;
  } catch (error) {
    if (!(error instanceof QueryProblem)) throw error;
    throw new AppError('usage', `--query: ${(error.body as { error: string }).error}`);
  }
}

async function preview(
  store: DirectStore,
  config: Config,
  { chosen, ids }: { readonly chosen: Chosen | null; readonly ids: readonly number[] | null },
): Promise<Pruned[]> {
  const { previewIds, previewOrder, previewRetention } =
    await import('../../../events/retention/prune-preview.ts');
  if (ids !== null) return previewIds(store.store.db, ids);
  if (chosen !== null) return previewOrder(store.store.db, chosen, ruleOf(chosen));
  return previewRetention(store.store.db, config.events.retention, {
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
  const { openAccounts } = await import('../../../app.ts');
  const { Retention } = await import('../../../events/retention/retention.ts');
  const log = commandLog(config, invocation.outside);
  const accounts = await openAccounts(config, log);
  try {
    const { audit, clock } = accounts;
    return await work(new Retention({ events: store, audit, clock, log, config: () => config }));
  } finally {
    await accounts.close();
  }
}
