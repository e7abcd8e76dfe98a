/** JWTs of the identity provider; API keys and tokens have methods of their own. */
import { isApiKeyText } from '../api-keys.ts';
import { BEARER_CHALLENGE } from '../refusal.ts';
import type { AuthenticationMethod } from '../method.ts';
import { splitAuthorization } from '../method.ts';
import { isCallToken } from '../handler-calls.ts';
import { isTokenText } from '../tokens.ts';

/** Also throws `permission-denied` for a name another account holds. */
export const bearer: AuthenticationMethod = {
  credential: 'bearer',
  claims({ authorization }) {
    const split = splitAuthorization(authorization);
    if (split?.scheme !== 'bearer' || isApiKeyText(split.rest)) return [];
    if (isTokenText(split.rest) || isCallToken(split.rest)) return [];
    return [{ carrier: 'authorization', value: split.rest, challenge: BEARER_CHALLENGE }];
  },
  async prove({ oidc }, claim, clientAddress) {
    if (oidc === null) return 'switched-off';
    if (claim.value === '') return 'empty';
    return oidc.bearer(claim.value, clientAddress);
  },
};
