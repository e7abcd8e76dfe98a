/** Nothing is taken before its reader wants it. */

type Chunk = { readonly done?: false; readonly value: Uint8Array } | { readonly done: true };

interface Chunks {
  next(): Chunk | Promise<Chunk>;
}

/**
 * `close` is called once, however the stream ends: with the reader's reason when it left early. The stream fails with
 * what `next` throws.
 */
export function streamOfChunks(
  chunks: Chunks,
  close: (left?: { readonly reason: unknown }) => unknown = () => {},
): ReadableStream<Uint8Array> {
  let isClosed = false;
  const end = async (left?: { readonly reason: unknown }): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await close(left);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next();
          if (next.done !== true) return controller.enqueue(next.value);
        } catch (error) {
          await end();
          throw error;
        }
        await end();
        controller.close();
      },
      cancel: (reason: unknown) => end({ reason }),
    },
    { highWaterMark: 0 },
  );
}
