/**
 * A standard stream that can be flushed: exiting before a slow pipe took everything would truncate
 * the output.
 */
import type { Writable } from 'node:stream';
import { errnoOf } from '../base/errors.ts';
import type { Invocation } from './command.ts';

interface Printer {
  print(text: string): void;
  drained(): Promise<void>;
  /** Error code (a full disk) of lost output; null when nothing was lost, or nobody was reading. */
  readonly lost: string | null;
}

/** Failures of the file behind the stream; others mean that nobody reads it. */
const LOSSES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/** More frequent writes would cost a busy server more time than its real work. */
const PAUSE_MS = 10;

/**
 * A reader that has closed (`svc config | head -1`) is no failure; a stalled one makes texts wait
 * in memory, and beyond `maxWaiting` characters further ones are dropped.
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
  // One write for all texts of an event-loop turn or, right after a write, of PAUSE_MS.
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
      // Runs before the `error` event.
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

export function wantsJson({ options }: Pick<Invocation, 'options'>): boolean {
  return options['json'] === true;
}

/** One line of JSON with `--json`, else what `text` returns. */
export function answerText<T>(
  invocation: Pick<Invocation, 'options'>,
  answer: T,
  text: (answer: T) => string,
): string {
  return wantsJson(invocation) ? `${JSON.stringify(answer)}\n` : text(answer);
}

/** In names they would move the cursor or colour the screen. */
const CONTROL = /\p{Cc}/gu;

export function plain(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** Ends with a newline. */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows.map((row) => row.map(plain))];
  const widths = titles.map((_, at) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[at]!))),
  );
  return lines
    .map((line) => {
      const cells = line.map((cell, at) => cell + ' '.repeat(widths[at]! - Bun.stringWidth(cell)));
      return `${cells.join('  ').trimEnd()}\n`;
    })
    .join('');
}
