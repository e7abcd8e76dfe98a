/**
 * Converts the credential forms of log clients into those every route knows.
 *
 * One value (API key, its alias, or user token) may follow `Splunk`, `Bearer`, `Token` or `ApiKey`, or be the
 * password of Basic, or a query parameter. Anything else is left unchanged, so passwords and identity providers work
 * as everywhere.
 */
import { isApiKeyText } from './api-keys.ts';
import type { RequestCredentials } from './method.ts';
import { splitAuthorization } from './method.ts';
import { isTokenText } from './tokens.ts';

const VALUE_SCHEMES: ReadonlySet<string> = new Set(['splunk', 'bearer', 'token', 'apikey']);

export function ingestCredentials(
  credentials: RequestCredentials,
  queryToken: string | null,
): RequestCredentials | null {
  const { apiKeyHeader, clientAddress } = credentials;
  const authorization =
    credentials.authorization ?? (queryToken === null ? null : `Splunk ${queryToken}`);
  if (authorization === null && (apiKeyHeader ?? null) === null) return null;
  const split = splitAuthorization(authorization);
  const value = split === null ? null : valueIn(split);
  return {
    clientAddress,
    ...(apiKeyHeader !== undefined && { apiKeyHeader }),
    authorization: value === null ? authorization : knownForm(value),
  };
}

/** Null when the header needs no conversion. */
function valueIn({ scheme, rest }: { scheme: string; rest: string }): string | null {
  if (scheme === 'basic') {
    const password = decoded(rest);
    return password !== null && isValue(password) ? password : null;
  }
  if (!VALUE_SCHEMES.has(scheme)) return null;
  if (scheme === 'apikey' && !isValue(rest)) return decoded(rest) ?? rest;
  // Identity providers send their tokens as Bearer.
  return scheme === 'bearer' && !isValue(rest) ? null : rest;
}

function isValue(text: string): boolean {
  return isApiKeyText(text) || isTokenText(text);
}

/** The part after the first colon of base64 text. */
function decoded(text: string): string | null {
  const pair = Buffer.from(text, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? null : pair.slice(colon + 1);
}

function knownForm(value: string): string {
  return isApiKeyText(value) ? `Bearer ${value}` : `Token ${value}`;
}
