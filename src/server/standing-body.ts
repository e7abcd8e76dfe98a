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
export async function* whileAllowed(
  body: ReadableStream<Uint8Array>,
  isAllowed: () => Promise<boolean>,
): AsyncGenerator<Uint8Array> {
  let checkedAt = performance.now();
  for await (const chunk of body) {
    if (performance.now() - checkedAt > RECHECK_MS) {
      if (!(await isAllowed())) {
        throw new AppError('permission-denied', 'The right to read ended during the answer');
      }
      checkedAt = performance.now();
    }
    yield chunk;
  }
}
