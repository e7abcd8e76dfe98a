/** Secrets are read when they are needed, so that a new key counts at once. */
import { readFileSync, statSync } from 'node:fs';
import { RefusedDelivery } from './outgoing.ts';

const MAX_BYTES = 64 * 1024;

/** `place` as `env:NAME` or `file:/path`. Throws RefusedDelivery, without the path. */
export function readSecret(place: string, what: string): string {
  const value = place.startsWith('env:')
    ? (process.env[place.slice(4)] ?? '')
    : fileText(place.slice(5), what);
  const text = value.trim();
  if (text === '') {
    const where = place.startsWith('env:') ? `the variable ${place.slice(4)}` : 'its file';
    throw new RefusedDelivery(`${what} of the configuration is empty: ${where} holds nothing`);
  }
  return text;
}

function fileText(path: string, what: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('too large');
    return readFileSync(path, 'utf8');
  } catch {
    throw new RefusedDelivery(`${what} of the configuration stands in a file that cannot be read`);
  }
}
