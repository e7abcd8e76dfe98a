/**
 * What a benchmark is and what it finds out, as plain data. A figure counts only as a ratio of two things measured in
 * turns in one run, because machines are shared and noisy.
 */

/** What a benchmark may use. */
export interface Bench {
  /** The executable under test; a private copy, so that a build meanwhile changes nothing. */
  readonly executable: string;
  /** How often each side is measured at most. */
  readonly rounds: number;
  /** A fresh folder on the disk of the project, removed after the benchmark. */
  readonly folder: string;
  /** One line for the person who waits. */
  readonly say: (line: string) => void;
}

/** One benchmark of the list. */
export interface Benchmark {
  /** What it is called on the command line. */
  readonly name: string;
  /** What is done, for the table. */
  readonly work: string;
  /** Takes some seconds up to a minute. Throws when an answer is wrong: then there is no figure. */
  readonly run: (bench: Bench) => Promise<readonly Finding[]>;
}

type Unit = 'requests/s' | 'rows/s' | 'edits/s' | 'ms' | 'bytes' | 'MB' | 'ms/MB' | 'NDCG@10';

/** One side's figures, one a round; the median counts. */
export interface Series {
  readonly name: string;
  readonly unit: Unit;
  readonly values: readonly number[];
}

/** What has to hold of the ratio of subject to reference, or of the subject's own figure. */
export interface Goal {
  readonly of: 'ratio' | 'value';
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One row of the table. */
export interface Finding {
  /** Which part of the benchmark; empty when there is only one. */
  readonly part: string;
  readonly subject: Series;
  /** Null: the subject's own figure counts. */
  readonly reference: Series | null;
  /** Null: reported for orientation. */
  readonly goal: Goal | null;
  /** The curve of the plot of growth that the figure belongs to, and the one that its reference belongs to. */
  readonly growth?: { readonly curve: string; readonly rows: number; readonly reference?: string };
}

/** Thrown by a benchmark whose reference or tool cannot be had; the run goes on. */
export class NotMeasurable extends Error {}

/** The middle value; the mean of the two middle ones of an even number. Throws RangeError for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new RangeError('no values');
  return (upper + lower) / 2;
}

/** Median of the subject over that of the reference; null without a reference. */
export function ratioOf({ subject, reference }: Finding): number | null {
  return reference === null ? null : median(subject.values) / median(reference.values);
}

/** Whether the goal is reached; null without a goal. */
export function isReached(finding: Finding): boolean | null {
  const { goal, subject } = finding;
  if (goal === null) return null;
  const value = goal.of === 'ratio' ? ratioOf(finding) : median(subject.values);
  if (value === null) return null;
  return value >= (goal.atLeast ?? -Infinity) && value <= (goal.atMost ?? Infinity);
}

/** How far the rounds of a side are apart, as a share of their median. */
export function spreadOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}
