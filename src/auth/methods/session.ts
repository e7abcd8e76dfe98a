/**
 * The browser session: cookie `svc_session` (DS-103).
 */
import { ANY_CHALLENGE } from '../challenges.ts';
import type { AuthenticationMethod } from '../method.ts';
import { findSession } from '../sessions.ts';

/** A bad one counts as absent (DS-94). */
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
