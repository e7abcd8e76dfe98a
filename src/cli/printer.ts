/**
 * A standard stream that can be waited for: leaving before a slow pipe took everything would cut the output off.
 */
import type { Writable } from 'node:stream';

/** Writes in order; `drained` resolves when everything was taken or the other side is gone. */
export interface Printer {
  print(text: string): void;
  drained(): Promise<void>;
}

/** A busy server would spend more time on writing its log than on anything else if it wrote more often. */
const PAUSE_MS = 10;

/**
 * A printer onto a standard stream. A reader that has left (`svc config | head -1`) is no failure of ours; one that
 * stalls makes texts wait in memory, and past `maxWaiting` characters further ones are lost.
 */
export function printer(stream: Writable, maxWaiting = Number.POSITIVE_INFINITY): Printer {
  let pending = 0;
  let gone = false;
  const waiting: (() => void)[] = [];
  const settle = (): void => {
    if (gone || pending === 0) for (const resolve of waiting.splice(0)) resolve();
  };
  const leave = (): void => {
    gone = true;
    settle();
  };
  stream.on('error', leave).on('close', leave);
  // One write for all texts of a turn of the event loop or, when there was one just before, of a short while.
  let gathered = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  const flushSoon = (): void => {
    const rest = writtenAt + PAUSE_MS - performance.now();
    if (rest <= 0) setImmediate(flush);
    else setTimeout(flush, rest);
  };
  const flush = (): void => {
    const text = gathered;
    gathered = '';
    if (text === '' || gone) return;
    writtenAt = performance.now();
    stream.write(text, () => {
      pending -= text.length;
      settle();
    });
  };
  return {
    print: (text) => {
      if (gone || pending > maxWaiting) return;
      if (gathered === '') flushSoon();
      pending += text.length;
      gathered += text;
    },
    drained: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        flush();
        settle();
      }),
  };
}
