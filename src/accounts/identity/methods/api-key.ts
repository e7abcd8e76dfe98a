/** `X-API-Key: ak_...` or `Authorization: Bearer ak_...`; aliases of keys likewise. */
import { type MaybePromise, whenResolved } from '../../../base/scheduling/maybe-promise.ts';
import type { FoundApiKey } from '../api-keys.ts';
import { findApiKey, isApiKeyText, noteApiKeyUse } from '../api-keys.ts';
import { isUseDue } from '../last-use.ts';
import { BEARER_CHALLENGE, type RefusalReason } from '../refusal.ts';
import type { AuthenticationMethod, AuthServices, Claim, Proof } from '../method.ts';
import { getIngestSettings } from '../ingest-settings.ts';
import { inBackground, splitAuthorization } from '../method.ts';

/** HEC clients send `Splunk`. */
const SCHEMES: ReadonlySet<string> = new Set(['bearer', 'splunk']);

/** Both headers may be sent; each is checked. */
export const apiKey: AuthenticationMethod = {
  credential: 'api-key',
  claims({ apiKeyHeader, authorization }) {
    const claims: Claim[] = [];
    const challenge = BEARER_CHALLENGE;
    if (apiKeyHeader !== undefined && apiKeyHeader !== null) {
      claims.push({ carrier: 'x-api-key', value: apiKeyHeader.trim(), challenge });
    }
    const split = splitAuthorization(authorization);
    if (split !== null && SCHEMES.has(split.scheme) && isApiKeyText(split.rest)) {
      claims.push({ carrier: 'authorization', value: split.rest, challenge });
    }
    return claims;
  },
  prove: (services, { value }) => proveKey(services, value),
};

export function proveKey(
  services: AuthServices,
  value: string,
): MaybePromise<Proof | RefusalReason> {
  const now = services.clock.now();
  return whenResolved(findApiKey(services.db, value, now), (found) => {
    if (found === null) return 'unknown';
    if (!found.isUsable) return 'revoked';
    return found.user.isActive ? proofOf(services, found, now) : 'inactive-user';
  });
}

function proofOf(
  services: AuthServices,
  { key, user }: FoundApiKey,
  now: number,
): MaybePromise<Proof> {
  const { db } = services;
  if (isUseDue(key.lastUsedAt, now)) {
    inBackground(services, 'noting a key use', noteApiKeyUse(db, key, now));
  }
  return whenResolved(getIngestSettings(db, key.id), ({ createOnly }) => ({
    user,
    apiKeyId: key.id,
    scopes: key.scopes,
    isCreateOnly: createOnly,
  }));
}
