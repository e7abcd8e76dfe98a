/**
 * The forms in which log clients send a credential (EV-63), brought into the ones every route knows.
 *
 * One value (API key, its alias, or user token) may stand behind `Splunk`, `Bearer`, `Token` or `ApiKey`, as the password of
 * Basic, or in the query. What is none of those goes on as it came, so that users with passwords and identity providers
 * work as everywhere.
 */
import { isApiKeyText } from './api-keys.ts';
import type { RequestCredentials } from './method.ts';
import { splitAuthorization } from './method.ts';
import { isTokenText } from './tokens.ts';

const VALUE_SCHEMES: ReadonlySet<string> = new Set(['splunk', 'bearer', 'token', 'apikey']);

/** The credentials of a request of a log client, without its cookies; null when it brought none. */
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

/** The value; null when the header is to be read as everywhere. */
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

/** What stands behind the first colon of base64 text; null when there is none. */
function decoded(text: string): string | null {
  const pair = Buffer.from(text, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? null : pair.slice(colon + 1);
}

function knownForm(value: string): string {
  return isApiKeyText(value) ? `Bearer ${value}` : `Token ${value}`;
}
