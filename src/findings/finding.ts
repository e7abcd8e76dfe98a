import type { DeliveryTarget } from '../deliveries/target.ts';

export const SEVERITIES = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const STATUSES = ['new', 'in progress', 'resolved', 'false alarm'] as const;
export type Status = (typeof STATUSES)[number];

/** One run of an alert whose condition held. */
export interface Firing {
  readonly alert: {
    readonly id: string;
    readonly name: string;
    /** Path of the file that defines it; `''` for one that is kept here. */
    readonly source: string;
    readonly ownerId: number | null;
  };
  readonly severity: Severity;
  /** When it was found, in microseconds of the epoch: the present, not the end of the window. */
  readonly at: number;
  /** Values of the throttle fields; `''` for all rows together. */
  readonly key: string;
  readonly columns: readonly string[];
  /** JSON values; the first `MAX_ROWS` and `MAX_ROW_BYTES` are kept. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly query: string;
  /** Microseconds of the epoch, `to` exclusive; null: open. */
  readonly from: number | null;
  readonly to: number | null;
  /** Read right on each of them, and on each dataset, is needed to see the finding. */
  readonly indexes: readonly string[];
  readonly datasets: readonly string[];
  readonly deliveries: readonly DeliveryTarget[];
}

export const OPEN_STATUSES: readonly Status[] = ['new', 'in progress'];
