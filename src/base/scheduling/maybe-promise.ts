/**
 * Values that are mostly available at once, as a promise only when something must be waited for.
 *
 * A request of remembered things passes some twenty steps that could wait; a promise for each was a seventh of its
 * time. `await` takes either, so only what every request passes needs `whenThere`.
 */

/** Failures are thrown when the value would be available at once. */
export type Soon<T> = T | Promise<T>;

/** Synchronous when the value is available. Throws or rejects as `next` and the promise do. */
export function whenThere<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
