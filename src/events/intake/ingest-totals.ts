/**
 * Stored and rejected events since process start by dialect, for the metrics.
 *
 * Reasons are a fixed set, so the number of series is bounded.
 */
import type { WriterResult } from '../store/writer-orders.ts';

interface IngestTotal {
  readonly dialect: string;
  readonly value: number;
}

export type RejectReason = 'invalid' | 'forbidden' | 'too_large' | 'throttled' | 'unavailable';

export class IngestTotals {
  readonly #stored = new Map<string, number>();
  readonly #rejected = new Map<string, Map<RejectReason, number>>();

  /** A request refused whole has an unknown number of entries: it counts as one. */
  noteResult(dialect: string, { status, accepted, rejected, problem }: WriterResult): void {
    this.#stored.set(dialect, (this.#stored.get(dialect) ?? 0) + accepted);
    if (rejected > 0) this.noteRejected(dialect, 'invalid', rejected);
    if (problem === null) return;
    const reason = status === 403 ? 'forbidden' : status === 413 ? 'too_large' : 'invalid';
    this.noteRejected(dialect, reason, 1);
  }

  noteRejected(dialect: string, reason: RejectReason, count: number): void {
    let reasons = this.#rejected.get(dialect);
    if (reasons === undefined) this.#rejected.set(dialect, (reasons = new Map()));
    reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }

  get stored(): IngestTotal[] {
    return [...this.#stored].map(([dialect, value]) => ({ dialect, value }));
  }

  get rejected(): (IngestTotal & { readonly reason: RejectReason })[] {
    return [...this.#rejected].flatMap(([dialect, reasons]) =>
      [...reasons].map(([reason, value]) => ({ dialect, reason, value })),
    );
  }
}
