/**
 * Tells a file of the event store from another one that was put in its place, as is done with a damaged one (EV-51): who keeps
 * a connection would go on reading what is gone.
 */
import { statSync } from 'node:fs';

/** What only this file has as long as it lies there; null while there is none with a byte in it: it has not become a database yet. */
export function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.size > 0 ? `${found.dev}:${found.ino}` : null;
}
