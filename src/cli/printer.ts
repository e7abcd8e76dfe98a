/**
 * A standard stream that can be waited for: leaving before a slow pipe took everything would cut the output off.
 */
import type { Writable } from 'node:stream';

/** Writes in order; `drained` resolves when everything was taken or the other side is gone. */
export interface Printer {
  print(text: string): void;
  drained(): Promise<void>;
}

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
  // One write for all texts of a turn of the event loop: a busy server logs dozens of lines in one.
  let gathered = '';
  const flush = (): void => {
    const text = gathered;
    gathered = '';
    if (text === '' || gone) return;
    stream.write(text, () => {
      pending -= text.length;
      settle();
    });
  };
  return {
    print: (text) => {
      if (gone || pending > maxWaiting) return;
      if (gathered === '') setImmediate(flush);
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
