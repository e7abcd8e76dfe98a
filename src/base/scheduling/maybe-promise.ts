/**
 * Values that are mostly available at once.
 *
 * A request of remembered things passes some twenty steps that could wait; a promise for each was a seventh of its
 * time. `await` takes either, so only what every request passes needs `whenResolved`.
 */

/** Failures are thrown when the value would be available at once. */
export type MaybePromise<T> = T | Promise<T>;

/** Throws or rejects as `next` and the promise do. */
export function whenResolved<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
