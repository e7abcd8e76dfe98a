/** How often an alert would have fired in the last week. */
import type { App } from '../../app.ts';
import { judge, type KeyState, Unjudgeable } from '../../alerts/condition.ts';
import type { AlertDefinition } from '../../alerts/definition.ts';
import type { Performed } from '../../alerts/runner.ts';
import { scheduleFor } from '../../alerts/store.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { timestamp } from '../../base/clock.ts';
import { runForPerson } from '../../base/scheduling/current-person.ts';
import { searchAs } from './alert-search.ts';

/** Times are RFC 3339. */
export interface AlertPreview {
  /** Runs of the last week. */
  readonly runs: number;
  /** The newest so many of them were looked at. */
  readonly looked_at: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly fired: number;
  readonly resolved: number;
  /** Values for which it held while it was throttled or muted. */
  readonly quiet: number;
  /** Runs that failed, and why the newest of them did. */
  readonly failed: number;
  readonly error: string | null;
  /** Why not all runs were looked at. */
  readonly limit: string | null;
  readonly firings: readonly { readonly at: string; readonly key: string; readonly rows: number }[];
}

const WEEK_MS = 7 * 86_400_000;
/** One a minute. */
const MAX_RUNS = 10_080;
const MAX_MS = 15_000;
const MAX_FIRINGS = 100;
/** Rows that are remembered until all runs are known. */
const MAX_HELD_ROWS = 100_000;
const TOO_LONG = `Looking stops after ${MAX_MS / 1000} seconds; the newest runs were looked at`;
const NO_WINDOW =
  'Without a window the past cannot be looked at, because datasets hold only the present: one run was made as of now';

/** Waits for a place among the caller's searches. Throws `throttled`. */
export async function previewAlert(
  services: App,
  caller: Principal,
  definition: AlertDefinition,
  signal: AbortSignal,
): Promise<AlertPreview> {
  const leave = await services.searches.enter(caller.userId, signal);
  try {
    return await runForPerson(`user:${caller.userId}`, () =>
      preview(services, caller, definition, signal),
    );
  } finally {
    leave();
  }
}

interface PastRun {
  readonly at: number;
  readonly performed: Performed;
}

async function preview(
  services: App,
  caller: Principal,
  definition: AlertDefinition,
  signal: AbortSignal,
): Promise<AlertPreview> {
  const now = services.clock.now();
  const isPastKnown = definition.window !== undefined;
  const slots = await slotsOf(definition, now);
  const wanted = isPastKnown ? slots : [now];
  const endsAt = services.clock.monotonic() + MAX_MS;
  const past: PastRun[] = [];
  let held = 0;
  // The newest first, because not all may be reached; they are judged in their order.
  for (const at of wanted.toReversed()) {
    if (past.length > 0 && (services.clock.monotonic() > endsAt || held > MAX_HELD_ROWS)) break;
    const performed = await searchAs(services, caller, definition, at, signal);
    signal.throwIfAborted();
    past.push({ at, performed });
    if (performed.kind === 'result') held += performed.result.rows.length;
  }
  const limit = isPastKnown ? (past.length < wanted.length ? TOO_LONG : null) : NO_WINDOW;
  return { runs: slots.length, limit, ...judged(definition, past.toReversed()) };
}

async function slotsOf(definition: AlertDefinition, now: number): Promise<number[]> {
  const schedule = scheduleFor(definition);
  const slots: number[] = [];
  for (let slot = schedule.after(now - WEEK_MS); slot <= now; slot = schedule.after(slot)) {
    slots.push(slot);
    if (slots.length % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return slots.slice(-MAX_RUNS);
}

function judged(
  definition: AlertDefinition,
  past: readonly PastRun[],
): Omit<AlertPreview, 'runs' | 'limit'> {
  let states: ReadonlyMap<string, KeyState> = new Map();
  const told = { fired: 0, resolved: 0, quiet: 0, failed: 0 };
  const firings: { at: string; key: string; rows: number }[] = [];
  let error: string | null = null;
  for (const { at, performed } of past) {
    try {
      if (performed.kind !== 'result') throw new Unjudgeable(performed.text);
      const {
        fired,
        resolved,
        quiet,
        states: next,
      } = judge(definition, performed.result, states, at);
      states = new Map(next.map((state) => [state.key, state]));
      told.fired += fired.length;
      told.resolved += resolved.length;
      told.quiet += quiet;
      for (const { key, rows } of fired)
        firings.push({ at: timestamp(at), key, rows: rows.length });
    } catch (thrown) {
      if (!(thrown instanceof Unjudgeable)) throw thrown;
      told.failed++;
      error = thrown.message;
    }
  }
  const [first] = past;
  const last = past.at(-1);
  return {
    looked_at: past.length,
    from: first === undefined ? null : timestamp(first.at),
    to: last === undefined ? null : timestamp(last.at),
    ...told,
    error,
    firings: firings.slice(-MAX_FIRINGS).toReversed(),
  };
}
