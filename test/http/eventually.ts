/**
 * Conditions that come true a little later.
 */
import { expect } from 'bun:test';
import { patienceFor } from '../support/patience.ts';

const POLL_MS = 10;

/** Longest time until a change of the document root shows, in ms (DS-33). */
export const PICK_UP_MS = 1_000;

/**
 * Tries until `check` passes (does not throw); resolves with its result. After `limitMs`, longer on shared cores, the
 * last failure is thrown.
 * The limit is judged by when a try began, so a slow answer alone is no failure.
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  limitMs = 15_000,
): Promise<Result> {
  const deadline = performance.now() + patienceFor(limitMs);
  for (;;) {
    const isLast = performance.now() >= deadline;
    try {
      return await check();
    } catch (error) {
      if (isLast) throw error;
    }
    await Bun.sleep(POLL_MS);
  }
}

/** What is expected of a value that is read until it is so. */
interface MaybePromise<Value> {
  readonly not: MaybePromise<Value>;
  toBe(expected: Value): Promise<void>;
  toEqual(expected: unknown): Promise<void>;
  toMatch(pattern: RegExp): Promise<void>;
  toContain(part: unknown): Promise<void>;
  toStartWith(start: string): Promise<void>;
  toEndWith(end: string): Promise<void>;
  toHaveLength(length: number): Promise<void>;
  toBeGreaterThan(limit: number): Promise<void>;
  toBeGreaterThanOrEqual(limit: number): Promise<void>;
  toBeLessThanOrEqual(limit: number): Promise<void>;
}

/**
 * `expect` of a value that comes true a little later, such as what a page shows after a click: `await soon(() => rows.count()).toBe(3)`.
 * Reads until it is as expected; the last failure is thrown as one of the caller's line.
 */
export function soon<Value>(read: () => Value | Promise<Value>): MaybePromise<Value> {
  const site = new Error();
  Error.captureStackTrace(site, soon);
  const matchers = (isNot: boolean): object =>
    new Proxy(
      {},
      {
        get: (_, name: keyof MaybePromise<Value> | 'then') => {
          if (name === 'then') return undefined;
          if (name === 'not') return matchers(!isNot);
          return async (expected: never): Promise<void> => {
            try {
              await eventually(async () => {
                const expectation = expect(await read());
                const subject = isNot ? expectation.not : expectation;
                const matcher: (expected: never) => void = subject[name];
                matcher.call(subject, expected);
              });
            } catch (error) {
              site.message = error instanceof Error ? error.message : String(error);
              throw site;
            }
          };
        },
      },
    );
  return matchers(false) as MaybePromise<Value>;
}
