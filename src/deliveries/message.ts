/**
 * What is delivered, whatever the channel. It is written down as JSON together with the change that caused it, and
 * never changed: each attempt sends the same.
 */
export interface Message {
  /** What happened, as receivers see it in `type`: an alert fired, a file changed. */
  readonly kind: 'alert' | 'change';
  readonly title: string;
  /** A few plain lines. */
  readonly text: string;
  readonly severity: string | null;
  /** Addresses on this server, by the names that templates give them as `links.…`. */
  readonly links: Readonly<Record<string, string>>;
  /** What templates name, nested; JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}
