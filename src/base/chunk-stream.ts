/**
 * Pieces that are made one at a time, as the body of an answer.
 */

/** A stream that makes a chunk when it is asked for one; `close` is called once, however it ends. */
export function streamOfChunks(
  chunks: Iterator<Uint8Array>,
  close: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      try {
        const { done, value } = chunks.next();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      close();
    },
    cancel: close,
  });
}
