/**
 * Runs alerts when they are due.
 *
 * Queries run in the worker processes, two at a time and in turns by owner; here only schedules and conditions are
 * computed. Whatever a run found is written in one transaction with its end, its findings and their deliveries; runs
 * that end together share a transaction.
 */
import { recordWithin } from '../accounts/audit/audit.ts';
import type { Clock } from '../base/clock.ts';
import { shortId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { recordFinding, resolveFinding } from '../findings/findings.ts';
import type { Database } from '../store/database.ts';
import {
  type AlertResult,
  judge,
  type Judgement,
  type KeyState,
  Unjudgeable,
} from './condition.ts';
import type { AlertDefinition } from './definition.ts';
import {
  type Alert,
  type AlertRun,
  claimRuns,
  type ClaimedRun,
  endRun,
  getAlert,
  getRun,
  keyStates,
  nextDue,
  renewLeases,
  type RunEnd,
  setAlertState,
  writeKeyStates,
  writeLastRows,
} from './store.ts';

/** What became of a query. */
export type Performed =
  | {
      readonly kind: 'result';
      readonly result: AlertResult;
      readonly query: string;
      /** Milliseconds of the epoch, `to` exclusive; null: open. */
      readonly from: number | null;
      readonly to: number | null;
      /** What a reader of the rows must be allowed to read; asked for only when it fires. */
      readonly sources: () => Promise<{
        readonly indexes: readonly string[];
        readonly datasets: readonly string[];
      }>;
    }
  | { readonly kind: 'error'; readonly text: string }
  /** Its owner may not read what it needs: it stops. */
  | { readonly kind: 'no rights'; readonly text: string };

/** `at`: milliseconds of the epoch; the query sees it as the present time. */
export type Perform = (
  alert: { readonly ownerId: number | null; readonly definition: AlertDefinition },
  at: number,
  signal: AbortSignal,
) => Promise<Performed>;

interface RunnerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly perform: Perform;
  /** Deliveries wait to be sent. */
  readonly onFired: () => void;
}

/** Of three workers for queries: one stays for people. */
const PARALLEL = 2;
const MAX_HELD = 200;
/** Taken in one transaction, which the server waits for: some milliseconds. */
const MAX_CLAIMED = 40;
const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
/** Also how soon changes by the command line are noticed. */
const LOOK_MS = 1_000;
const LAST_ROWS = 100;
const LAST_ROW_BYTES = 64 * 1024;
const MAX_ERROR = 1_000;

const UNRUNNABLE: ReadonlySet<Alert['state']> = new Set(['unapproved', 'broken', 'gone']);

interface Ended {
  readonly run: ClaimedRun;
  readonly alert: Alert;
  readonly before: ReadonlyMap<string, KeyState>;
  readonly durationMs: number;
  readonly outcome:
    | {
        readonly kind: 'judged';
        readonly judgement: Judgement;
        readonly performed: Extract<Performed, { kind: 'result' }>;
        readonly sources: {
          readonly indexes: readonly string[];
          readonly datasets: readonly string[];
        };
      }
    | Exclude<Performed, { kind: 'result' }>;
}

export class AlertRunner {
  readonly #options: RunnerOptions;
  readonly #holder = shortId();
  readonly #stop = new AbortController();
  /** Claimed and not yet begun, by owner; owners take turns. */
  readonly #waiting = new Map<number | null, ClaimedRun[]>();
  readonly #held = new Set<number>();
  readonly #running = new Set<Promise<void>>();
  readonly #listeners = new Map<number, (run: AlertRun | null) => void>();
  #ended: Ended[] = [];
  #flushing: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  #timers: Timer[] = [];

  /** Since the start. */
  readonly figures = { done: 0, failed: 0, fired: 0, resolved: 0, missed: 0, seconds: 0 };

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Held by this server, with those that run. */
  get held(): number {
    return this.#held.size;
  }

  start(): void {
    const every = (milliseconds: number, work: () => void): void => {
      const timer = setInterval(work, milliseconds);
      timer.unref();
      this.#timers.push(timer);
    };
    every(LOOK_MS, () => this.look());
    every(RENEW_MS, () => void this.#renew());
    this.look();
  }

  /** Looks for what is due, unless it is doing so. */
  look(): void {
    if (this.#looking !== null || this.#stop.signal.aborted) return;
    this.#looking = this.#claim()
      .catch((error: unknown) => {
        this.#options.log.warning('alerts that are due could not be looked up', { error });
      })
      .finally(() => {
        this.#looking = null;
      });
  }

  /** The run when it has ended; as it is when the time is over. */
  async ended(runId: number, timeoutMs: number): Promise<AlertRun | null> {
    const { db } = this.#options;
    const waiting = new Promise<AlertRun | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), timeoutMs);
      timer.unref();
      this.#listeners.set(runId, (run) => {
        clearTimeout(timer);
        resolve(run);
      });
    });
    this.look();
    const run = await waiting;
    this.#listeners.delete(runId);
    return run ?? getRun(db, runId);
  }

  /** Everything that is due has been run and written; for tests with a clock of their own. */
  async settle(): Promise<void> {
    for (;;) {
      await this.#looking;
      if (this.#held.size > 0) {
        await Promise.all([...this.#running]);
        await this.#flushing;
        continue;
      }
      const due = await nextDue(this.#options.db);
      if (due === null || due > this.#options.clock.now()) return;
      this.look();
    }
  }

  /** Runs that are cut off are taken up by the next server. */
  async stop(): Promise<void> {
    this.#timers.forEach(clearInterval);
    this.#stop.abort();
    this.#waiting.clear();
    for (const listener of this.#listeners.values()) listener(null);
    await this.#looking;
    await Promise.all([...this.#running]);
    await this.#flushing;
    // So that the next server need not wait for the lease.
    await renewLeases(this.#options.db, this.#holder, this.#options.clock.now(), 0);
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const { db, clock, log } = this.#options;
    try {
      await renewLeases(db, this.#holder, clock.now(), LEASE_MS);
    } catch (error) {
      log.warning('leases of alerts were not renewed', { error });
    }
  }

  async #claim(): Promise<void> {
    const { db, clock } = this.#options;
    for (;;) {
      const most = MAX_HELD - this.#held.size;
      // A batch at a time; each costs a write to the disk.
      if (most < MAX_HELD / 2) return;
      const now = clock.now();
      const claimed = await claimRuns(db, {
        holder: this.#holder,
        now,
        leaseMs: LEASE_MS,
        most: Math.min(most, MAX_CLAIMED),
      });
      for (const run of claimed) {
        this.figures.missed += run.missed;
        this.#held.add(run.id);
        const line = this.#waiting.get(run.ownerId);
        if (line === undefined) this.#waiting.set(run.ownerId, [run]);
        else line.push(run);
      }
      this.#fill();
      if (claimed.length === 0) return;
      // Requests come between.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #fill(): void {
    while (this.#running.size < PARALLEL && !this.#stop.signal.aborted) {
      const [owner, line] = this.#waiting.entries().next().value ?? [null, []];
      const run = line.shift();
      if (run === undefined) return;
      // To the end of the round.
      this.#waiting.delete(owner);
      if (line.length > 0) this.#waiting.set(owner, line);
      const work = this.#run(run).finally(() => {
        this.#running.delete(work);
        this.#fill();
        if (this.#held.size <= MAX_HELD / 2) this.look();
      });
      this.#running.add(work);
    }
  }

  async #run(run: ClaimedRun): Promise<void> {
    const { db, log } = this.#options;
    const startedAt = performance.now();
    try {
      const alert = await getAlert(db, run.alertId);
      if (alert?.definition == null) {
        this.#held.delete(run.id);
        return;
      }
      const before = await keyStates(db, alert.id);
      const outcome = await this.#outcomeOf(alert, alert.definition, run, before);
      if (this.#stop.signal.aborted) return;
      const durationMs = Math.round(performance.now() - startedAt);
      this.#ended.push({ run, alert, before, durationMs, outcome });
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = null;
      });
    } catch (error) {
      // Its lease runs out, and it is tried again.
      this.#held.delete(run.id);
      log.warning('an alert could not be run', { alert: run.alertId, error });
    }
  }

  async #outcomeOf(
    alert: Alert,
    definition: AlertDefinition,
    { slot }: ClaimedRun,
    before: ReadonlyMap<string, KeyState>,
  ): Promise<Ended['outcome']> {
    const { perform, log } = this.#options;
    // A file may have changed since the run was claimed.
    if (UNRUNNABLE.has(alert.state)) return { kind: 'error', text: alert.problem ?? alert.state };
    let performed: Performed;
    try {
      performed = await perform({ ownerId: alert.ownerId, definition }, slot, this.#stop.signal);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        log.warning('the search of an alert failed', { alert: alert.id, error });
      return { kind: 'error', text: error instanceof Error ? error.message : String(error) };
    }
    if (performed.kind !== 'result') return performed;
    try {
      const judgement = judge(definition, performed.result, before, slot);
      const sources =
        judgement.fired.length > 0 ? await performed.sources() : { indexes: [], datasets: [] };
      return { kind: 'judged', judgement, performed, sources };
    } catch (error) {
      if (error instanceof Unjudgeable) return { kind: 'error', text: error.message };
      throw error;
    }
  }

  async #flush(): Promise<void> {
    while (this.#ended.length > 0) {
      const ended = this.#ended;
      this.#ended = [];
      if (!(await this.#write(ended)) && ended.length > 1) {
        // One of them may be what cannot be written.
        for (const one of ended) await this.#write([one]);
      }
      for (const { run } of ended) this.#held.delete(run.id);
      await this.#tell(ended);
    }
  }

  async #write(ended: readonly Ended[]): Promise<boolean> {
    const { db, clock, log, onFired } = this.#options;
    let counted = { fired: 0 };
    try {
      await db.transaction(async (tx) => {
        counted = { fired: 0 };
        for (const one of ended)
          counted.fired += await writeEnd(tx, one, this.#holder, clock.now());
      });
    } catch (error) {
      log.warning('runs of alerts were not written', { runs: ended.length, error });
      return false;
    }
    if (counted.fired > 0) onFired();
    for (const { outcome, durationMs } of ended) {
      this.figures[outcome.kind === 'judged' ? 'done' : 'failed']++;
      this.figures.seconds += durationMs / 1000;
      if (outcome.kind === 'judged') this.figures.resolved += outcome.judgement.resolved.length;
    }
    this.figures.fired += counted.fired;
    return true;
  }

  async #tell(ended: readonly Ended[]): Promise<void> {
    for (const { run } of ended) {
      const listener = this.#listeners.get(run.id);
      if (listener === undefined) continue;
      const written = await getRun(this.#options.db, run.id).catch(() => null);
      if (written !== null) listener(written);
    }
  }
}

/** How many fired. */
async function writeEnd(
  tx: Database,
  { run, alert, before, durationMs, outcome }: Ended,
  holder: string,
  now: number,
): Promise<number> {
  const present = await getAlert(tx, alert.id);
  // Its definition was replaced meanwhile: what this run found belongs to the old one.
  const isCurrent = present?.version === alert.version;
  const judged = outcome.kind === 'judged' && isCurrent ? outcome : null;
  const { judgement = null } = judged ?? {};
  const end: RunEnd = {
    state: outcome.kind === 'judged' ? 'done' : 'failed',
    durationMs,
    rows: outcome.kind === 'judged' ? outcome.performed.result.rows.length : null,
    fired: judgement?.fired.length ?? 0,
    resolved: judgement?.resolved.length ?? 0,
    quiet: judgement?.quiet ?? 0,
    error: outcome.kind === 'judged' ? null : outcome.text.slice(0, MAX_ERROR).toWellFormed(),
  };
  if (!(await endRun(tx, run, holder, end, now))) return 0;
  if (outcome.kind === 'no rights' && isCurrent) {
    await setAlertState(tx, alert, { state: 'stopped', problem: outcome.text }, now);
    const note = { userId: alert.ownerId, resource: `alert/${alert.id}`, ipAddress: null };
    await recordWithin(tx, { ...note, action: 'stop_alert', details: outcome.text }, now);
  }
  if (judged === null) return 0;
  await writeJudged(tx, { alert, before, now }, judged);
  return judged.judgement.fired.length;
}

async function writeJudged(
  tx: Database,
  {
    alert,
    before,
    now,
  }: { readonly alert: Alert; readonly before: Ended['before']; readonly now: number },
  { judgement, performed, sources }: Extract<Ended['outcome'], { kind: 'judged' }>,
): Promise<void> {
  const definition = alert.definition!;
  const { result, query, from, to } = performed;
  const id = String(alert.id);
  const micros = now * 1_000;
  for (const { key, rows } of judgement.fired) {
    await recordFinding(tx, {
      alert: { id, name: alert.title, source: alert.source, ownerId: alert.ownerId },
      severity: definition.severity ?? 'medium',
      at: micros,
      key,
      columns: result.columns,
      rows,
      query,
      from: from === null ? null : from * 1_000,
      to: to === null ? null : to * 1_000,
      ...sources,
      deliveries: definition.deliveries ?? [],
    });
  }
  for (const key of judgement.resolved) await resolveFinding(tx, id, key, micros);
  await writeKeyStates(tx, alert.id, before, judgement.states);
  if (definition.when === undefined) await writeLastRows(tx, alert.id, lastRowsOf(result));
}

function lastRowsOf({ columns, rows }: AlertResult): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, LAST_ROWS)) {
    const text = JSON.stringify(row);
    bytes += Buffer.byteLength(text);
    if (bytes > LAST_ROW_BYTES) break;
    kept.push(text);
  }
  return `{"columns":${JSON.stringify(columns)},"rows":[${kept.join(',')}],"row_count":${rows.length}}`;
}
