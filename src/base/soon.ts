/**
 * Answers that are mostly there already: given at once then, as a promise only where something has to be waited for.
 *
 * A request of remembered things passes some twenty steps that could wait; a promise for each of them was a seventh of its
 * time. `await` takes either, so only what every request passes needs `whenThere`.
 */

/** The value, or a promise of it. Failures are thrown where the value would be there at once. */
export type Soon<T> = T | Promise<T>;

/** What `next` makes of the value: at once when that is there. Throws or rejects as `next` and the promise do. */
export function whenThere<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
