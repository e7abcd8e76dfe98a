/**
 * One line on a terminal that says how far a long command is, and is gone when the command says something else. Where standard
 * error is no terminal nothing of it is written.
 */
import type { Outside } from './command.ts';

/** The line of one command. */
export interface ProgressLine {
  /** The outside whose diagnostics take the place of the line. */
  readonly outside: Outside;
  /** Puts a text there, at most ten times a second. */
  show(text: string): void;
  /** Takes it away. */
  clear(): void;
}

const STEP_MS = 100;
const TO_LINE_START_AND_CLEAR = '\r\u001b[K';

/** The line, not shown yet. */
export function progressLine(outside: Outside): ProgressLine {
  if (outside.streams.diagnostics.isTTY !== true)
    return { outside, show: () => {}, clear: () => {} };
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  const clear = (): void => {
    if (isShown) outside.err(TO_LINE_START_AND_CLEAR);
    isShown = false;
  };
  return {
    outside: {
      ...outside,
      err: (text) => {
        clear();
        outside.err(text);
      },
    },
    show: (text) => {
      const now = performance.now();
      if (now - shownAt < STEP_MS) return;
      shownAt = now;
      isShown = true;
      outside.err(TO_LINE_START_AND_CLEAR + text);
    },
    clear,
  };
}
