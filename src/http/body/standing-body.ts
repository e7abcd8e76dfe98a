/**
 * Long answers whose reader may lose the right to them before their end (reliability S-Z10): a right that is taken away
 * counts with the next request, and for an answer under way within seconds.
 */
import { AppError } from '../../base/errors.ts';
import { byteStream } from '../reply/outgoing-stream.ts';
import type { BodyStream } from '../reply/reply.ts';

/** Between two looks at credential and right: a look costs two reads of the state database. */
const RECHECK_MS = 2_000;

/**
 * The same body; breaks off, so that nobody takes it for a whole one, when `isAllowed` answers false or cannot tell. Asked
 * before a piece is handed out, however long it was waited for: who does not read gets nothing more either.
 */
export function whileAllowed(
  body: BodyStream,
  isAllowed: () => Promise<boolean>,
  recheckMs: number = RECHECK_MS,
): AsyncIterable<Uint8Array> {
  // No generator: one that was never begun would not let go of the body when it is given up.
  const reader = byteStream(body).getReader();
  let checkedAt = performance.now();
  const requireRight = async (): Promise<void> => {
    if (performance.now() - checkedAt < recheckMs) return;
    if (!(await isAllowed())) {
      throw new AppError('permission-denied', 'The right to read ended during the answer');
    }
    checkedAt = performance.now();
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next(): Promise<IteratorResult<Uint8Array>> {
        const { value, done } = await reader.read();
        if (done) return { done, value: undefined };
        try {
          await requireRight();
        } catch (error) {
          // Why it breaks off is told already; that its source cannot be stopped changes nothing.
          await reader.cancel(error).catch(() => undefined);
          throw error;
        }
        return { done, value };
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        await reader.cancel();
        return { done: true, value: undefined };
      },
    }),
  };
}
