/** A header of a whole answer, or a trailer behind a NUL after the last row of a stream, which the server removes. */

export interface RunFigures {
  readonly rows: number;
  readonly scanned: number;
  readonly ms: number;
  /** There were more rows than the answer may have. */
  readonly isCut: boolean;
}

export const FIGURES_HEADER = 'x-search-figures';
const MAX_TRAILER = 128;

export function printFigures({ rows, scanned, ms, isCut }: RunFigures): string {
  return `${rows} ${scanned} ${ms} ${isCut ? 1 : 0}`;
}

export function readFigures(text: string | null): RunFigures | null {
  const match = /^(\d+) (\d+) (\d+) ([01])$/.exec(text ?? '');
  if (match === null) return null;
  const [rows, scanned, ms] = match.slice(1).map(Number) as [number, number, number];
  return { rows, scanned, ms, isCut: match[4] === '1' };
}

export function figuresTrailer(figures: RunFigures): string {
  return `\0${printFigures(figures)}`;
}

/** `onEnd` gets the figures before the stream closes. */
export function withoutTrailer(
  body: ReadableStream<Uint8Array>,
  onEnd: (figures: RunFigures | null) => void,
): ReadableStream<Uint8Array> {
  let held = new Uint8Array(0);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const all = held.length === 0 ? chunk : new Uint8Array(Buffer.concat([held, chunk]));
        const cut = Math.max(0, all.length - MAX_TRAILER);
        if (cut > 0) controller.enqueue(all.subarray(0, cut));
        held = all.slice(cut);
      },
      flush(controller) {
        const at = held.lastIndexOf(0);
        const text = at < 0 ? null : new TextDecoder().decode(held.subarray(at + 1));
        onEnd(readFigures(text));
        if (at > 0) controller.enqueue(held.subarray(0, at));
      },
    }),
  );
}
