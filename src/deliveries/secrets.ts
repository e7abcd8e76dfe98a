/** Secrets are read when they are needed, so that a new key counts at once. */
import { readFileSync, statSync } from 'node:fs';
import { isPlace } from '../config/delivery-values.ts';
import type { Config } from '../config/settings.ts';
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

/** Secrets that cannot be read here and now, for `svc check`; the server may have other variables. */
export function secretProblems({ targets, secrets, smtp }: Config['deliveries']): string[] {
  const places: [string, string][] = [
    ...Object.entries(secrets).map(([name, place]): [string, string] => [`secrets.${name}`, place]),
    ...Object.entries(targets).flatMap(([name, { url, secret, headers }]) =>
      [url, secret, ...Object.values(headers)]
        .filter((place) => place !== null && isPlace(place))
        .map((place): [string, string] => [`targets.${name}`, place!]),
    ),
    ...(smtp.password === '' ? [] : [['smtp.password', smtp.password] as [string, string]]),
  ];
  return places.flatMap(([key, place]) => {
    try {
      readSecret(place, `deliveries.${key}`);
      return [];
    } catch (error) {
      if (error instanceof RefusedDelivery) return [error.message];
      throw error;
    }
  });
}
