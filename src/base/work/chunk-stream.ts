/** A response body made of chunks on demand. */

/** `close` is called once, however the stream ends. */
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
