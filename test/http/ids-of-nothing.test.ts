/** Ids that are digits, yet more than any id can be, name nothing, as other ids without an object do (EV-3, EV-39, EV-87). */
import { describe, expect, test } from 'bun:test';
import { sharedService } from './shared-service.ts';

const shared = sharedService();
const IDS = ['9007199254740993', '9'.repeat(25), '0', '0'.repeat(30) + '7'];

describe.each(IDS)('the id %s', (id) => {
  const cases = [
    [`/api/events/${id}/`, { data: 'x' }, 'No Event matches the given query.'],
    [
      `/api/savedsearches/${id}/`,
      { name: 'n', query: 'q' },
      'No SavedSearch matches the given query.',
    ],
  ] as const;

  test.each(cases)('names nothing at %s', async (path, body, detail) => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await shared.superuser.fetch(path, {
        method,
        headers: { 'Content-Type': 'application/json' },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
      });
      expect([method, answer.status, await answer.json()]).toEqual([method, 404, { detail }]);
    }
    expect((await shared.superuser.fetch(path, { method: 'HEAD' })).status).toBe(404);
  });
});
