/**
 * API keys: `X-API-Key: ak_...` or `Authorization: Bearer ak_...` (DS-93, DS-116); aliases of keys likewise (EV-58).
 */
import { findApiKey, isApiKeyText, isUseDue, noteApiKeyUse } from '../api-keys.ts';
import { BEARER_CHALLENGE } from '../challenges.ts';
import type { AuthenticationMethod, Claim } from '../method.ts';
import { getIngestSettings } from '../ingest-settings.ts';
import { inBackground, splitAuthorization } from '../method.ts';

/** `Splunk` is what clients of HEC say (EV-58). */
const SCHEMES: ReadonlySet<string> = new Set(['bearer', 'splunk']);

/** Both headers may come at once; each is checked. */
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
  async prove(services, claim) {
    const { db, clock } = services;
    const now = clock.now();
    const found = await findApiKey(db, claim.value, now);
    if (found === null) return 'unknown';
    const { key, user } = found;
    if (!found.isUsable) return 'revoked';
    if (!user.isActive) return 'inactive-user';
    if (isUseDue(key, now)) inBackground(services, 'noting a key use', noteApiKeyUse(db, key, now));
    const { createOnly } = await getIngestSettings(db, key.id);
    return { user, apiKeyId: key.id, scopes: key.scopes, isCreateOnly: createOnly };
  },
};
