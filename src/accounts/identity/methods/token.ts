/** `Authorization: Token <40 hex>`, the same value as Bearer too. */
import { BEARER_CHALLENGE, TOKEN_CHALLENGE } from '../refusal.ts';
import type { AuthenticationMethod } from '../method.ts';
import { inBackground, splitAuthorization } from '../method.ts';
import { isUseDue } from '../last-use.ts';
import { findToken, isTokenText, noteTokenUse } from '../tokens.ts';

/** Most routes answer an inactive owner like an unknown value. */
export const token: AuthenticationMethod = {
  credential: 'token',
  claims({ authorization }) {
    const split = splitAuthorization(authorization);
    const isOurs =
      split?.scheme === 'token' || (split?.scheme === 'bearer' && isTokenText(split.rest));
    if (split === null || !isOurs) return [];
    const challenge = split.scheme === 'token' ? TOKEN_CHALLENGE : BEARER_CHALLENGE;
    return [{ carrier: 'authorization', value: split.rest, challenge }];
  },
  async prove(services, { value }) {
    if (value === '') return 'empty';
    if (/\s/.test(value)) return 'spaces';
    if (!isTokenText(value)) return 'unknown';
    const { db, clock } = services;
    const found = await findToken(db, value);
    if (found === null) return 'unknown';
    const { user } = found;
    if (!user.isActive) return 'inactive-user';
    const now = clock.now();
    if (isUseDue(found.lastUsedAt, now)) {
      inBackground(services, 'noting a token use', noteTokenUse(db, user.id, now));
    }
    return { user };
  },
};
