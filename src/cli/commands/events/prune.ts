/** `svc events prune`: applies retention now, or deletes what is selected; works while a server runs (EV-108). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../base/errors.ts';
import type { Config } from '../../../config/schema.ts';
import type { DirectStore } from '../../../events/direct-store.ts';
import type { Pruned, Retention } from '../../../events/retention.ts';
import type { Command, Invocation } from '../../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../../configuration.ts';
import { textTable } from '../../text-table.ts';

const DAY_MICROS = 86_400_000_000;

/** What the flags select; null: nothing, so retention is applied. */
interface Chosen {
  readonly index: string | null;
  /** Microseconds. */
  readonly createdBefore: number | null;
}

/** Prints what was deleted, or with `--dry-run` what would be, by index and rule. */
export const prune: Command = {
  name: 'prune',
  summary: 'Delete old events by the rules of retention, or those that are selected.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser
      .option('--dry-run', 'Delete nothing; print what would go.')
      .option('--index <name>', 'Only events of this index, whatever the rules say.')
      .option('--older-than <days>', 'Only events older than this, such as 30d.')
      .option('--yes', 'Do not ask.')
      .option('--json', 'Print JSON.');
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const chosen = chosenBy(invocation);
    const { config } = await loadInvocation(invocation);
    const { EVENTS_FILE } = await import('../../../events/schema.ts');
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
    if (options['json'] === true) outside.out(`${JSON.stringify(views)}\n`);
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

function chosenBy({ options }: Invocation): Chosen | null {
  const { index, olderThan } = options;
  if (index === undefined && olderThan === undefined) return null;
  const days = olderThan === undefined ? null : /^(\d{1,6})d$/.exec(String(olderThan).trim());
  if (olderThan !== undefined && days === null)
    throw new AppError('usage', `--older-than: must be days such as 30d, not '${olderThan}'`);
  return {
    index: index === undefined ? null : String(index),
    createdBefore: days === null ? null : Date.now() * 1000 - Number(days[1]) * DAY_MICROS,
  };
}

/** What went or would go; null when the person at the terminal said no. */
async function pruneStore(
  invocation: Invocation,
  config: Config,
  chosen: Chosen | null,
): Promise<Pruned[] | null> {
  const { options } = invocation;
  const { DirectStore } = await import('../../../events/direct-store.ts');
  const { writerSettings } = await import('../../../events/events.ts');
  const store = new DirectStore(config.state_dir, writerSettings(config));
  try {
    if (options['dryRun'] === true) return await preview(store, config, chosen);
    if (chosen !== null && !(await isConfirmed(invocation, store, config, chosen))) return null;
    return await withRetention(invocation, config, store, (retention) =>
      chosen === null
        ? retention.run()
        : retention.prune({ kind: 'prune', bytes: null, ids: null, ...chosen }, ruleOf(chosen)),
    );
  } finally {
    store.close();
  }
}

function ruleOf({ createdBefore }: Chosen): 'age' | 'query' {
  return createdBefore === null ? 'query' : 'age';
}

async function preview(
  store: DirectStore,
  config: Config,
  chosen: Chosen | null,
): Promise<Pruned[]> {
  const { previewOrder, previewRetention } = await import('../../../events/prune-preview.ts');
  if (chosen !== null) return previewOrder(store.store.db, chosen, ruleOf(chosen));
  return previewRetention(store.store.db, config.events.retention, {
    totals: store.indexTotals(),
    sizeInUse: store.sizeInUse(),
    now: Date.now() * 1000,
  });
}

async function isConfirmed(
  { options, outside }: Invocation,
  store: DirectStore,
  config: Config,
  chosen: Chosen,
): Promise<boolean> {
  if (options['yes'] === true || !outside.input.isTerminal) return true;
  const due = await preview(store, config, chosen);
  const events = due.reduce((sum, one) => sum + one.events, 0);
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
  const { Retention } = await import('../../../events/retention.ts');
  const log = commandLog(config, invocation.outside);
  const accounts = await openAccounts(config, log);
  try {
    const { audit, clock } = accounts;
    return await work(new Retention({ events: store, audit, clock, log, config: () => config }));
  } finally {
    await accounts.close();
  }
}
