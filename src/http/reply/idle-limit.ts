/**
 * How long the connection of one request may stand still: while its body comes in, while its answer is made, afterwards.
 *
 * Bun keeps the limit with the socket, not with the request. So whatever was set for one request is set back at its end, or
 * the connection would keep it for the next one.
 */

/** What is asked of the socket a request came on. Read while the request is new: a socket that is gone tells nothing. */
export interface Connection {
  /** Address of the peer; null when the socket is gone. */
  address(): string | null;
  /** Seconds without a byte in either direction after which the connection is cut; 0 never, 255 at most. */
  limitIdle(seconds: number): void;
}

/** Limits in seconds, 1 to 255 (the most Bun can count), held to about 4 s. */
export interface IdleSeconds {
  /** Between requests, and while a short answer is taken. */
  readonly between: number;
  /** A client that sends nothing of its body for this long is cut off. */
  readonly body: number;
  /** A client that takes nothing of a long answer for this long is cut off. */
  readonly stream: number;
}

export const IDLE_SECONDS: IdleSeconds = { between: 60, body: 30, stream: 255 };

/** The limit of one connection during one request. It starts as `between`. */
export class IdleLimit {
  readonly #connection: Connection;
  readonly #seconds: IdleSeconds;
  #isReading = false;
  #isChanged = false;
  /** The turn of the event loop that took the request is over. */
  isLate = false;
  /** Counts when no body is being read; the work on an answer takes its own time. */
  #rest = 0;

  constructor(connection: Connection, seconds: IdleSeconds) {
    this.#connection = connection;
    this.#seconds = seconds;
  }

  /** `read`, during which the client has to send. */
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

  /** The answer takes long: the client may wait for it, unless it is still to send its body. */
  lift(): void {
    this.isLate = true;
    if (!this.#isReading) this.#set(0);
  }

  /** The answer is made, and from here on the client has to take it. */
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
 * The requests of one server that wait for an answer. Work may take longer than an idle connection may live, so the limit of an answer
 * that is still being made when the turn of the event loop ends is lifted; most are there before.
 */
export class SlowAnswers {
  /** Since this turn. */
  readonly #young = new Set<IdleLimit>();
  /** One look at the end of a turn is enough for all of its requests. */
  #isLooking = false;

  begin(limit: IdleLimit): void {
    this.#young.add(limit);
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => this.#liftLimits());
  }

  /** The answer is there, so its limit is no longer touched from here. */
  end(limit: IdleLimit): void {
    this.#young.delete(limit);
  }

  #liftLimits(): void {
    this.#isLooking = false;
    for (const limit of this.#young) limit.lift();
    this.#young.clear();
  }
}
