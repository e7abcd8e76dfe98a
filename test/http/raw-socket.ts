/**
 * A connection of which every byte is ours: for requests that no client library would send.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** The head of an answer. */
interface RawHead {
  readonly status: number;
  /** By lower-case name; of a repeated header the values joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One connection. Disposing it cuts it off. */
export class RawSocket implements Disposable {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Uint8Array) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    // A reset is an end like any other; the test looks at what came before it.
    socket.on('error', () => this.#end());
    socket.on('close', () => this.#end());
  }

  /** Connects to a server. */
  static open(baseUrl: string): Promise<RawSocket> {
    const { hostname, port } = new URL(baseUrl);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.off('error', reject);
        resolve(new RawSocket(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Sends bytes, text as Latin-1. */
  send(data: string | Uint8Array): void {
    this.#socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  /** Says that nothing more will be sent. */
  finish(): void {
    this.#socket.end();
  }

  /** Whether the other side has ended the connection. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Everything received so far that no head was taken from. */
  get received(): string {
    return this.#received.toString('latin1');
  }

  /** The next head, taken off; null when the connection ends without one. Passes over `100 Continue`. */
  async head(): Promise<RawHead | null> {
    for (;;) {
      await this.#until(() => this.#received.includes('\r\n\r\n'));
      const end = this.#received.indexOf('\r\n\r\n');
      if (end < 0) return null;
      const head = headOf(this.#received.toString('latin1', 0, end));
      this.#received = this.#received.subarray(end + 4);
      if (head.status !== 100) return head;
    }
  }

  /** That many bytes of a body, taken off; fewer when the connection ends. */
  async body(length: number): Promise<string> {
    await this.#until(() => this.#received.length >= length);
    const text = this.#received.toString('latin1', 0, length);
    this.#received = this.#received.subarray(length);
    return text;
  }

  /** Resolves when the other side has closed the connection. */
  async closed(): Promise<void> {
    await this.#until(() => false);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #until(isThere: () => boolean): Promise<void> {
    while (!isThere() && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#wake?.();
  }
}

function headOf(text: string): RawHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { status: Number(statusLine.split(' ')[1]), headers };
}
