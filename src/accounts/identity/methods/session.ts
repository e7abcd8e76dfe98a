import { ANY_CHALLENGE } from '../refusal.ts';
import type { AuthenticationMethod } from '../method.ts';
import { findSession } from '../sessions.ts';

/** An invalid cookie counts as absent. */
export const session: AuthenticationMethod = {
  credential: 'session',
  claims({ sessionToken }) {
    if (sessionToken === undefined || sessionToken === null) return [];
    return [{ carrier: 'cookie', value: sessionToken, challenge: ANY_CHALLENGE }];
  },
  async prove({ db, clock }, claim) {
    return (await findSession(db, claim.value, clock.now())) ?? 'unknown';
  },
};
