/**
 * A standard stream that can be waited for: leaving before a slow pipe took everything would cut the output off.
 */
import type { Writable } from 'node:stream';
import { errnoOf } from '../base/errors.ts';

/** Writes in order; `drained` resolves when everything was taken or the other side is gone. */
interface Printer {
  print(text: string): void;
  drained(): Promise<void>;
  /** The code of the error that lost what was printed (a full disk); null when nothing was lost that somebody waits for. */
  readonly lost: string | null;
}

/** Failures of the file behind the stream; others mean that nobody reads it. */
const LOSSES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/** A busy server would spend more time on writing its log than on anything else if it wrote more often. */
const PAUSE_MS = 10;

/**
 * A printer onto a standard stream. A reader that has left (`svc config | head -1`) is no failure of ours; one that
 * stalls makes texts wait in memory, and past `maxWaiting` characters further ones are lost.
 */
export function printer(stream: Writable, maxWaiting = Number.POSITIVE_INFINITY): Printer {
  let pending = 0;
  let gone = false;
  let lost: string | null = null;
  const waiting: (() => void)[] = [];
  const settle = (): void => {
    if (gone || pending === 0) for (const resolve of waiting.splice(0)) resolve();
  };
  const leave = (): void => {
    gone = true;
    settle();
  };
  const fail = (error: unknown): void => {
    const errno = errnoOf(error) ?? '';
    if (LOSSES.has(errno)) lost = errno;
    leave();
  };
  stream.on('error', fail).on('close', leave);
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
    stream.write(text, (error) => {
      // Told here before the event of it.
      if (error) fail(error);
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
    get lost() {
      return lost;
    },
  };
}
