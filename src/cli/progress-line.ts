/**
 * Progress of a long command on one terminal line, cleared before other diagnostics. Nothing is
 * written when standard error is no terminal.
 */
import type { Outside } from './command.ts';

export interface ProgressLine {
  /** Use instead of the original: its diagnostics clear the line. */
  readonly outside: Outside;
  show(text: string): void;
  clear(): void;
}

const STEP_MS = 100;
const TO_LINE_START_AND_CLEAR = '\r\u001b[K';

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
