import { AppError } from '../../../base/errors.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import { explainAccess, listAllowed } from '../../../operations/explanations.ts';
import { explainPage } from '../explain.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxHolds, boxValue, sliceListing } from './page-list.ts';

export const explainRoute: Route = adminPageRoute({
  path: 'explain',
  summary: 'Explain who may do what',
  page: explainPage,
  read: async (context, admin) => {
    const { services } = context;
    const [user, resource] = [boxValue(context, 'user'), boxValue(context, 'resource')];
    const key = boxValue(context, 'key');
    const right: Verb = boxValue(context, 'right') === 'write' ? 'write' : 'read';
    const asked = { user, resource, right, key, explanation: null, allowed: null, failure: null };
    // An empty resource means the document root, so absence means that the form was not sent.
    if (context.queryValue('resource') === null) return asked;
    if (user === '') {
      const allowed = await listAllowed(services, admin, { resource, action: right });
      const isWanted = boxHolds(context, 'who');
      const everybody = [
        ...allowed.users,
        ...allowed.superusers.map(({ id, username }) => ({ id, username, granted_by: null })),
      ].filter(({ username }) => isWanted(username));
      const listing = sliceListing(context, everybody, { boxes: ['who'] });
      return { ...asked, allowed: { ...allowed, listing } };
    }
    if (key !== '' && !/^[0-9]{1,15}$/.test(key)) {
      return { ...asked, failure: 'The id of an API key is a number; see the list of keys.' };
    }
    const question = { username: user, resource, action: right };
    try {
      const withKey = { ...question, ...(key !== '' && { keyId: Number(key) }) };
      return { ...asked, explanation: await explainAccess(services, admin, withKey) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not-found') throw error;
      return { ...asked, failure: error.message };
    }
  },
});
