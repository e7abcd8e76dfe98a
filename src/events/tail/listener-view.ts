/** Listeners as operators see them; each registers itself while open. */

export interface ListenerView {
  readonly name: string;
  readonly listen: string;
  readonly connections: number;
  readonly received: number;
  readonly dropped: number;
  readonly cut: number;
  /** The listener's user may not store them. */
  readonly refused: number;
  /** Peer not allowed, too many connections, invalid framing, or no TLS. */
  readonly turned_away: number;
  /** Connections closed while idle or in an unfinished message. */
  readonly timed_out: number;
}

export type ListenerViews = Map<string, () => ListenerView>;
