/**
 * The budgets of one run (SL-152), counted where the work is done.
 */
import type { Meter } from './operator.ts';
import { Problem } from './problem.ts';

/** Limits of a run. */
export interface Budget {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** A meter that throws when a budget is used up; `startedAt` on the clock of `performance.now()`. */
export function createMeter({ timeoutMs, memoryBytes }: Budget, startedAt: number): Meter {
  let held = 0;
  let isWatched = 0;
  return {
    tick: () => {
      // Asking the clock costs as much as a row.
      if ((++isWatched & 0x3) !== 0) return;
      if (performance.now() - startedAt > timeoutMs) throw timeProblem(timeoutMs);
    },
    hold: (bytes) => {
      held += bytes;
      if (held > memoryBytes) throw memoryProblem(memoryBytes);
    },
  };
}

/** The time budget is used up. */
export function timeProblem(timeoutMs: number): Problem {
  return new Problem('time_budget', `Query exceeded its time budget of ${timeoutMs / 1000} s`);
}

/** The memory budget is used up. */
export function memoryProblem(memoryBytes: number): Problem {
  const mebibytes = Math.round(memoryBytes / 2 ** 20);
  return new Problem('memory_budget', `Query exceeded its memory budget of ${mebibytes} MiB`);
}
