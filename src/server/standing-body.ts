/**
 * Long answers whose reader may lose the right to them before their end (reliability S-Z10): a right that is taken away
 * counts with the next request, and for an answer under way within seconds.
 */
import { AppError } from '../base/errors.ts';

/** Between two looks at credential and right: a look costs two reads of the state database. */
const RECHECK_MS = 2_000;

/**
 * The same body; breaks off, so that nobody takes it for a whole one, when `isAllowed` answers false. Looked at while the
 * client reads: who does not read gets nothing more either.
 */
export function whileAllowed(
  body: ReadableStream<Uint8Array>,
  isAllowed: () => Promise<boolean>,
): AsyncIterable<Uint8Array> {
  // No generator: one that was never begun would not let go of the body when it is given up.
  const reader = body.getReader();
  let checkedAt = performance.now();
  const requireRight = async (): Promise<void> => {
    if (performance.now() - checkedAt < RECHECK_MS) return;
    if (!(await isAllowed())) {
      const reason = new AppError('permission-denied', 'The right to read ended during the answer');
      await reader.cancel(reason);
      throw reason;
    }
    checkedAt = performance.now();
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next(): Promise<IteratorResult<Uint8Array>> {
        await requireRight();
        const { value, done } = await reader.read();
        return done ? { done, value: undefined } : { done, value };
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        await reader.cancel();
        return { done: true, value: undefined };
      },
    }),
  };
}
