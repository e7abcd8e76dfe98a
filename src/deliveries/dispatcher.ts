/**
 * Sends what is due, each receiver one at a time and several receivers at once.
 *
 * A failure is tried again over an hour, then given up and kept for somebody to send again. Whatever fails, the next
 * ones go on.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import { Backoff } from '../processes/backoff.ts';
import type { Database } from '../store/database.ts';
import { sendEmail } from './email.ts';
import { post, RefusedDelivery } from './outgoing.ts';
import {
  claimDue,
  type Delivery,
  nextDue,
  pruneDeliveries,
  queueFigures,
  type QueueFigures,
  releaseClaims,
  settle,
  type Settlement,
} from './queue.ts';
import type { Channel, TargetOf } from './target.ts';
import { type Values, valuesOf } from './template.ts';
import { webhookRequest } from './webhook.ts';

/** What is written on this server itself, with the rights that the owner has at that moment. */
export type WriteHere = (
  delivery: Delivery,
  target: TargetOf<'index' | 'dataset'>,
  values: Values,
) => Promise<void>;

interface DispatcherOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Config;
  /** Where people reach this server, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly writeHere: WriteHere;
  readonly audit: (delivery: Delivery, outcome: Outcome) => Promise<void>;
}

export interface Outcome {
  readonly isSent: boolean;
  readonly details: string;
}

/** After each failure; together an hour. */
const PAUSES_SECONDS = [10, 30, 60, 120, 300, 600, 900, 1_580];
const LONGEST_PAUSE_SECONDS = 3_600;
/** Receivers at once. */
const MAX_PARALLEL = 32;
/** A receiver that failed so often in a row is left alone for a while, by all that wait for it. */
const FREE_FAILURES = 5;
const MAX_PAUSED = 1_000;
/** How soon what another process wrote, as the command line does, is noticed. */
const LOOK_MS = 500;
/** Far longer than a delivery may take. */
const CLAIM_MS = 10 * 60 * 1000;
const PRUNE_MS = 60 * 60 * 1000;
/** These need another definition, file or right, not another attempt. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  'bad-request',
  'permission-denied',
  'not-writable',
  'not-found',
  'method-not-allowed',
  'read-only',
  'too-large',
  'invalid-request',
  'schema-mismatch',
  'unreadable-file',
]);

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #busy = new Map<string, Promise<void>>();
  /** By lane, those that failed last. */
  readonly #pauses = new Map<string, Backoff>();
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #looking: Promise<void> | null = null;
  #isWanted = false;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** Since the start, by channel. */
  readonly counts = { sent: new Map<Channel, number>(), failed: new Map<Channel, number>() };

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await releaseClaims(this.#options.db);
    this.wake();
  }

  /** Something may be due. */
  wake(): void {
    if (this.#stop.signal.aborted) return;
    this.#isWanted = true;
    clearTimeout(this.#timer);
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
  }

  /** Resolves when nothing that is due is left or under way; for tests. */
  async settled(): Promise<void> {
    while (this.#looking !== null || this.#busy.size > 0)
      await Promise.all([this.#looking, ...this.#busy.values()]);
  }

  /** Breaks off what is under way; it is due again with the next start. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the server stops'));
    clearTimeout(this.#timer);
    await this.settled();
  }

  figures(): Promise<QueueFigures> {
    return queueFigures(this.#options.db);
  }

  async #look(): Promise<void> {
    const { db, clock, log } = this.#options;
    try {
      while (this.#isWanted && !this.#stop.signal.aborted) {
        this.#isWanted = false;
        await this.#prune();
        const due = await nextDue(db, clock.now());
        if (due === null || due > clock.now()) continue;
        const taken = await claimDue(db, {
          now: clock.now(),
          busy: [...this.#busy.keys(), ...this.#paused()],
          most: MAX_PARALLEL - this.#busy.size,
          claimMs: CLAIM_MS,
        });
        for (const delivery of taken) this.#begin(delivery);
      }
    } catch (error) {
      log.warning('deliveries cannot be read', { error });
    }
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => this.wake(), LOOK_MS);
    this.#timer.unref();
  }

  #paused(): string[] {
    const now = this.#options.clock.monotonic();
    return [...this.#pauses].flatMap(([lane, pause]) => (pause.remainingMs(now) > 0 ? [lane] : []));
  }

  #noteOutcome(lane: string, isFailure: boolean): void {
    const pause = this.#pauses.get(lane) ?? new Backoff(FREE_FAILURES);
    this.#pauses.delete(lane);
    if (!isFailure) return;
    pause.failed(this.#options.clock.monotonic());
    this.#pauses.set(lane, pause);
    const [oldest] = this.#pauses.keys();
    if (this.#pauses.size > MAX_PAUSED) this.#pauses.delete(oldest!);
  }

  async #prune(): Promise<void> {
    const { db, clock } = this.#options;
    if (clock.monotonic() - this.#prunedAt < PRUNE_MS) return;
    this.#prunedAt = clock.monotonic();
    await pruneDeliveries(db, clock.now());
  }

  #begin(delivery: Delivery): void {
    const work = this.#deliver(delivery)
      .catch((error: unknown) => {
        this.#options.log.error('a delivery could not be settled', { id: delivery.id, error });
      })
      .finally(() => {
        this.#busy.delete(delivery.lane);
        this.wake();
      });
    this.#busy.set(delivery.lane, work);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { db, clock, log, audit } = this.#options;
    const { id, target, attempts, receiver } = delivery;
    const settlement = await this.#attempt(delivery);
    if (this.#stop.signal.aborted && settlement.state !== 'sent') return;
    // What is given up at once was refused before anybody was asked.
    this.#noteOutcome(delivery.lane, settlement.state === 'waiting');
    await settle(db, id, settlement, clock.now());
    const isSent = settlement.state === 'sent';
    const count = this.counts[isSent ? 'sent' : 'failed'];
    count.set(target.type, (count.get(target.type) ?? 0) + 1);
    const what = `${target.type} to ${receiver}`;
    if (isSent) {
      const again = attempts === 0 ? '' : `, attempt ${attempts + 1}`;
      return audit(delivery, { isSent, details: `${what}${again}` });
    }
    const { error } = settlement;
    log.warning('a delivery failed', { id, channel: target.type, receiver, error });
    if (settlement.state === 'dead')
      await audit(delivery, { isSent, details: `${what}: given up, ${error}` });
  }

  async #attempt(delivery: Delivery): Promise<Settlement> {
    const { clock } = this.#options;
    const pause = (error: string, atLeast = 0): Settlement => {
      const seconds = PAUSES_SECONDS[delivery.round];
      if (seconds === undefined) return { state: 'dead', error };
      const wait = Math.min(Math.max(seconds, atLeast), LONGEST_PAUSE_SECONDS);
      return { state: 'waiting', error, nextAt: clock.now() + wait * 1000 };
    };
    try {
      const answered = await this.#send(delivery);
      if (answered === null || (answered.status >= 200 && answered.status < 300))
        return { state: 'sent' };
      const { status, retryAfter } = answered;
      if (status >= 300 && status < 400)
        return pause(`answered ${status}: redirects are not followed, name the address itself`);
      // Gone for good: https://www.rfc-editor.org/rfc/rfc9110#status.410
      if (status === 410) return { state: 'dead', error: 'answered 410 Gone' };
      return pause(`answered ${status}`, secondsOf(retryAfter, clock.now()));
    } catch (error) {
      const text = this.#textOf(error);
      const isFinal =
        error instanceof RefusedDelivery ||
        (error instanceof AppError && FINAL_CODES.has(error.code));
      return isFinal ? { state: 'dead', error: text } : pause(text);
    }
  }

  /** Null where there is no status. */
  async #send(delivery: Delivery) {
    const { config, clock, baseUrl, writeHere } = this.#options;
    const { deliveries: settings } = config();
    const { target, message, uid, attempts } = delivery;
    const values = valuesOf(message, { uid, number: attempts + 1, baseUrl: baseUrl() });
    switch (target.type) {
      case 'webhook':
        return post(
          {
            ...webhookRequest(settings, target, values, clock.now()),
            timeoutMs: settings.timeout_seconds * 1000,
            signal: this.#stop.signal,
          },
          { networks: settings.private_networks },
        );
      case 'email':
        await sendEmail(settings, target, values, { now: clock.now(), signal: this.#stop.signal });
        return null;
      default:
        await writeHere(delivery, target, values);
        return null;
    }
  }

  #textOf(error: unknown): string {
    if (!(error instanceof Error)) return 'failed';
    if (error.name === 'TimeoutError') {
      return `no answer within ${this.#options.config().deliveries.timeout_seconds} seconds`;
    }
    const { code } = error as { code?: unknown };
    const isOurs = error instanceof RefusedDelivery || error instanceof AppError;
    return isOurs || typeof code !== 'string' ? error.message : code;
  }
}

/** https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function secondsOf(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0;
  if (/^\d{1,6}$/.test(retryAfter)) return Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now) / 1000);
}
