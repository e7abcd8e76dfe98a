/**
 * What is asked of the socket a request came on. Read while the request is new: a socket that is gone tells nothing.
 */

export interface Connection {
  /** Address of the peer; null when the socket is gone. */
  address(): string | null;
  /** Seconds without a byte in either direction after which the connection is cut; 0 never, 255 at most. */
  limitIdle(seconds: number): void;
}
