/**
 * How long a connection may be idle: while its body arrives, while its answer is made, and between requests. Bun keeps the
 * limit with the socket, so it is reset at the end of each request.
 */

/** Asked while the request is new: a closed socket answers nothing. */
export interface Connection {
  /** Null when the socket is gone. */
  address(): string | null;
  /** Without a byte in either direction; 0 never, 255 at most. */
  limitIdle(seconds: number): void;
}

/** 1 to 255, the most Bun can count; accurate to about 4 s. */
export interface IdleSeconds {
  /** And during a short answer. */
  readonly between: number;
  /** Without a byte of the body. */
  readonly body: number;
  /** Without progress of a long answer. */
  readonly stream: number;
}

export const IDLE_SECONDS: IdleSeconds = { between: 60, body: 30, stream: 255 };

/** Of one connection during one request; starts as `between`. */
export class IdleLimit {
  readonly #connection: Connection;
  readonly #seconds: IdleSeconds;
  #isReading = false;
  #isChanged = false;
  /** The turn of the event loop that took the request is over. */
  isLate = false;
  /** Counts when no body is being read. */
  #rest = 0;

  constructor(connection: Connection, seconds: IdleSeconds) {
    this.#connection = connection;
    this.#seconds = seconds;
  }

  /** The client has to send meanwhile. */
  async whileReading<T>(read: () => Promise<T>): Promise<T> {
    this.#isReading = true;
    this.#set(this.#seconds.body);
    try {
      return await read();
    } finally {
      this.#isReading = false;
      this.#set(this.#rest);
    }
  }

  /** The answer takes long: the client may wait, unless its body is still due. */
  lift(): void {
    this.isLate = true;
    if (!this.#isReading) this.#set(0);
  }

  /** From here on the client has to read. */
  settle(isStream: boolean): void {
    const { between, stream } = this.#seconds;
    this.#rest = isStream ? stream : between;
    if (isStream || this.#isChanged) this.#set(this.#rest);
  }

  #set(seconds: number): void {
    this.#isChanged = true;
    this.#connection.limitIdle(seconds);
  }
}

/**
 * Work may outlast an idle connection: the limit of an answer not ready at the end of its turn of the event loop is lifted.
 */
export class SlowAnswers {
  /** Requests of this turn. */
  readonly #young = new Set<IdleLimit>();
  /** One check per turn is enough. */
  #isLooking = false;

  begin(limit: IdleLimit): void {
    this.#young.add(limit);
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => this.#liftLimits());
  }

  end(limit: IdleLimit): void {
    this.#young.delete(limit);
  }

  #liftLimits(): void {
    this.#isLooking = false;
    for (const limit of this.#young) limit.lift();
    this.#young.clear();
  }
}
