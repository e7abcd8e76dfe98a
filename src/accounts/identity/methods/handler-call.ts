import { BEARER_CHALLENGE } from '../refusal.ts';
import { isCallToken } from '../handler-calls.ts';
import type { AuthenticationMethod } from '../method.ts';
import { splitAuthorization } from '../method.ts';
import { getUser } from '../users.ts';

/** `Authorization: Bearer svc_call_…`: what the caller of a handler may, for the time of that call. */
export const handlerCall: AuthenticationMethod = {
  credential: 'handler-call',
  claims({ authorization }) {
    const split = splitAuthorization(authorization);
    if (split?.scheme !== 'bearer' || !isCallToken(split.rest)) return [];
    return [{ carrier: 'authorization', value: split.rest, challenge: BEARER_CHALLENGE }];
  },
  async prove({ db, handlerCalls }, { value }) {
    const caller = handlerCalls.callerOf(value);
    const user = caller && (await getUser(db, caller.userId));
    if (caller === null || user === null) return 'unknown';
    if (!user.isActive) return 'inactive-user';
    const { scopes, isCreateOnly } = caller;
    return { user, scopes, ...(isCreateOnly === true && { isCreateOnly }) };
  },
};
