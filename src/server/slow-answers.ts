/**
 * Connections whose answer is still being made when the turn of the event loop ends: work may take longer than an idle
 * connection may live, so their limit is lifted. Most answers are there before, and for them nothing has to be done.
 */
import type { Connection } from './connection.ts';

/** The connections of one server that wait for an answer. */
export class SlowAnswers {
  /** Since this turn. */
  readonly #young = new Set<Connection>();

  begin(connection: Connection): void {
    if (this.#young.size === 0) setImmediate(() => this.#liftLimits());
    this.#young.add(connection);
  }

  /** Answers whether the limit of the connection was lifted; who sends the answer then sets it again. */
  end(connection: Connection): boolean {
    return !this.#young.delete(connection);
  }

  #liftLimits(): void {
    for (const connection of this.#young) connection.limitIdle(0);
    this.#young.clear();
  }
}
