/**
 * Requests whose answer is still being made when the turn of the event loop ends: work may take longer than an idle
 * connection may live, so the limit is lifted. Most answers are there before, and for them nothing has to be done.
 */
import type { IdleLimit } from './idle-limit.ts';

/** The requests of one server that wait for an answer. */
export class SlowAnswers {
  /** Since this turn. */
  readonly #young = new Set<IdleLimit>();
  /** One look at the end of a turn is enough for all of its requests. */
  #isLooking = false;

  begin(limit: IdleLimit): void {
    this.#young.add(limit);
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => this.#liftLimits());
  }

  /** The answer is there, so its limit is no longer touched from here. */
  end(limit: IdleLimit): void {
    this.#young.delete(limit);
  }

  #liftLimits(): void {
    this.#isLooking = false;
    for (const limit of this.#young) limit.lift();
    this.#young.clear();
  }
}
