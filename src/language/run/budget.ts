import type { Meter } from './operator.ts';
import { Problem } from '../syntax/problem.ts';

export interface Budget {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** `startedAt` is on the clock of `performance.now()`. */
export function createMeter({ timeoutMs, memoryBytes }: Budget, startedAt: number): Meter {
  let held = 0;
  let isWatched = 0;
  return {
    tick: () => {
      // Reading the clock costs as much as a row.
      if ((++isWatched & 0x3) !== 0) return;
      if (performance.now() - startedAt > timeoutMs) throw timeProblem(timeoutMs);
    },
    hold: (bytes) => {
      held += bytes;
      if (held > memoryBytes) throw memoryProblem(memoryBytes);
    },
  };
}

/** The runtime refuses texts and lists of more than 2^31 characters, whatever the budget. */
export function isOutgrown(error: unknown): boolean {
  return error instanceof RangeError && /out of memory|length|size of/i.test(error.message);
}

export function timeProblem(timeoutMs: number): Problem {
  return new Problem('time_budget', `Query exceeded its time budget of ${timeoutMs / 1000} s`);
}

export function memoryProblem(memoryBytes: number): Problem {
  const mebibytes = Math.round(memoryBytes / 2 ** 20);
  return new Problem('memory_budget', `Query exceeded its memory budget of ${mebibytes} MiB`);
}
