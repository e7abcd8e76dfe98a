/** A NUL in a query is a character like any other, that no event holds: the query finds nothing, and nothing fails (SL-63). */
import { beforeAll, expect, test } from 'bun:test';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  config: { events: { min_free_bytes: 1, throttle: { search: '' } } },
});

const post = (path: string, body: unknown): Promise<Response> =>
  shared.superuser.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

async function found(query: string): Promise<unknown> {
  const answer = await post('/search2/api/run/', { query: `${query} | stats count` });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { rows: unknown }).rows;
}

beforeAll(async () => {
  expect((await post('/api/events/', { data: 'Failed login for bob' })).status).toBe(201);
});

test.each(['bob\0', '"for bob\0and"', 'log\0in', 'fail*\0', '\0\0\0', '\0'])(
  'the term %j occurs nowhere (SL-63)',
  async (term) => {
    expect(await found(term)).toEqual([{ count: 0 }]);
    expect(await found(`* | search ${term}`)).toEqual([{ count: 0 }]);
    expect(await found(`bob NOT ${term}`)).toEqual([{ count: 1 }]);
  },
);
