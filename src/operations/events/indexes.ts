import type { Config } from '../../config/settings.ts';
import { timeText } from '../../events/event-time.ts';
import type { Events } from '../../events/events.ts';
import type { IndexTotals } from '../../events/read/index-totals.ts';
import type { IndexRules } from '../../events/retention/retention.ts';
import { rulesOf } from '../../events/retention/retention.ts';

export interface IndexView extends IndexRules {
  readonly index: string;
  readonly events: number;
  readonly bytes: number;
  readonly oldest: string | null;
  readonly newest: string | null;
}

/** By name. Throws `unavailable`. */
export async function listIndexes({
  events,
  config,
}: {
  readonly events: Events;
  readonly config: Config;
}): Promise<IndexView[]> {
  await events.open();
  return indexViews(await events.indexTotals(), config);
}

export function indexViews(totals: readonly IndexTotals[], config: Config): IndexView[] {
  return totals.map((one) => indexView(one, config));
}

function indexView(
  { index, events, bytes, oldest, newest }: IndexTotals,
  config: Config,
): IndexView {
  return {
    index,
    events,
    bytes,
    oldest: oldest === null ? null : timeText(oldest),
    newest: newest === null ? null : timeText(newest),
    ...rulesOf(config.events.retention, index),
  };
}
