/**
 * Logs a child's output line by line, up to a limit.
 *
 * The stream is always drained, because the runtime buffers an unread pipe without limit; excess bytes are counted
 * and dropped, and a flooding child is reported so that it can be killed.
 */

const MAX_LINE_CHARS = 2_000;
/** Logged lines per window: 20 KB/s of disk at most. */
const MAX_LINES = 100;
const WINDOW_MS = 10_000;
/** Bytes per window after which a child counts as broken: draining costs about 1.4 ms of CPU per megabyte. */
const FLOOD_BYTES = 64 * 1024 * 1024;

interface OutputTarget {
  /** Without line end, cut to 2,000 characters. */
  line(text: string): void;
  /** More than 64 MiB in ten seconds. Called once. */
  flood(): void;
}

/** Reads to the end; memory stays below a few hundred KB. Never rejects. */
export async function drainOutput(
  stream: ReadableStream<Uint8Array>,
  target: OutputTarget,
): Promise<void> {
  const cap = new OutputCap(target);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) {
      if (cap.admits(chunk.byteLength)) cap.write(decoder.decode(chunk, { stream: true }));
    }
  } catch {
    // The pipe broke with the child, whose end is reported elsewhere.
  }
  cap.end();
}

class OutputCap {
  readonly #target: OutputTarget;
  #windowStart = performance.now();
  #windowBytes = 0;
  #lines = 0;
  #droppedBytes = 0;
  #hasFlooded = false;
  #partial = '';

  constructor(target: OutputTarget) {
    this.#target = target;
  }

  admits(bytes: number): boolean {
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) this.#startWindow(now);
    this.#windowBytes += bytes;
    if (this.#windowBytes > FLOOD_BYTES && !this.#hasFlooded) {
      this.#hasFlooded = true;
      this.#target.flood();
    }
    if (this.#lines < MAX_LINES) return true;
    this.#droppedBytes += bytes;
    this.#partial = '';
    return false;
  }

  write(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#emit(this.#partial + text.slice(start, Math.min(end, start + MAX_LINE_CHARS)));
      this.#partial = '';
      start = end + 1;
    }
    this.#partial = (this.#partial + text.slice(start, start + MAX_LINE_CHARS)).slice(
      0,
      MAX_LINE_CHARS,
    );
  }

  end(): void {
    if (this.#partial !== '') this.#emit(this.#partial);
    this.#reportDropped();
  }

  #emit(line: string): void {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (this.#lines >= MAX_LINES) this.#droppedBytes += text.length + 1;
    else if (text !== '') this.#target.line(text.slice(0, MAX_LINE_CHARS));
    this.#lines += 1;
  }

  #startWindow(now: number): void {
    this.#reportDropped();
    this.#windowStart = now;
    this.#windowBytes = 0;
    this.#lines = 0;
  }

  #reportDropped(): void {
    if (this.#droppedBytes === 0) return;
    this.#target.line(`[${this.#droppedBytes} bytes of output dropped]`);
    this.#droppedBytes = 0;
  }
}
