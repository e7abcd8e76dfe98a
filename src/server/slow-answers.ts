/**
 * Requests whose answer is still being made when the turn of the event loop ends: work may take longer than an idle
 * connection may live, so the limit is lifted. Most answers are there before, and for them nothing has to be done.
 */
import type { IdleLimit } from './idle-limit.ts';

/** The requests of one server that wait for an answer. */
export class SlowAnswers {
  /** Since this turn. */
  readonly #young = new Set<IdleLimit>();

  begin(limit: IdleLimit): void {
    if (this.#young.size === 0) setImmediate(() => this.#liftLimits());
    this.#young.add(limit);
  }

  /** The answer is there, so its limit is no longer touched from here. */
  end(limit: IdleLimit): void {
    this.#young.delete(limit);
  }

  #liftLimits(): void {
    for (const limit of this.#young) limit.lift();
    this.#young.clear();
  }
}
