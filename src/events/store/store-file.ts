/**
 * Recognises when another file replaced the event store, as operators do with a damaged one: an open connection would
 * go on reading the old file.
 */
import { statSync } from 'node:fs';

/** Identifies the file while it exists; null while it is missing or empty, and so not yet a database. */
export function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && found.size > 0 ? `${found.dev}:${found.ino}` : null;
}
