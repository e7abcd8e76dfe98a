/**
 * What operators see of the listeners (EV-60); each listener reports itself here while it is open.
 */

/** Figures of one listener since it was opened. */
export interface ListenerView {
  readonly name: string;
  /** Where it listens, with the port it got. */
  readonly listen: string;
  readonly connections: number;
  readonly received: number;
  /** Without room for them. */
  readonly dropped: number;
  /** Over the size of a message. */
  readonly cut: number;
  /** The user of the listener may not store them. */
  readonly refused: number;
  /** From a peer that is not allowed, in excess of the connections, in no framing, or in no TLS. */
  readonly turned_away: number;
  /** Connections closed because nothing came, or a message was not finished. */
  readonly timed_out: number;
}

/** The listeners that are open, by name. */
export type ListenerViews = Map<string, () => ListenerView>;
