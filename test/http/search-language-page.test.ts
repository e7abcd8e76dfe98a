/**
 * The reference of the search language as a page, what a run leaves in the audit, and runs nobody waits for (EV-98, EV-101).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { commands } from '../../src/language/commands/index.ts';
import { SPL_PAIRS } from '../../src/api/spl-pairs.ts';
import { eventually } from './eventually.ts';
import { type Client, type Service, startService } from '../support/service.ts';

let svc: Service;
let root: Client;

const ROWS = Array.from({ length: 3000 }, (_, index) => `${index},h${index % 7}`);

beforeAll(async () => {
  svc = await startService({
    files: { 'many.csv': `n,host\n${ROWS.join('\n')}\n`, 'assets.csv': 'host,owner\nh1,web\n' },
    config: {
      events: {
        min_free_bytes: 1,
        throttle: { search: '' },
        search: { audit: true, concurrent_per_user: 1, timeout_seconds: 300 },
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

function post(
  client: Client,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  return client.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const run = (body: unknown, signal?: AbortSignal): Promise<Response> =>
  post(root, '/search2/api/run/', body, signal);

async function audited(): Promise<string[]> {
  const response = await run({ query: 'from audit | where action="run_search" | table details' });
  const { rows } = (await response.json()) as { rows: { details: string }[] };
  return rows.map(({ details }) => details);
}

test('the page shows every command with its examples, and errors lead to it', async () => {
  const page = await (await root.fetch('/docs/search-language')).text();
  for (const { name } of commands) expect(page).toContain(`id="${name}"`);
  expect(page).toContain('status&gt;=500');
  const wrong = await run({ query: 'from many | hed 3' });
  expect(wrong.status).toBe(400);
  expect(wrong.headers.get('link')).toBe('</docs/search-language>; rel="help"');
});

test('every query for people who know SPL is one', async () => {
  await post(root, '/savedsearches/', {
    name: 'by host',
    query: 'index={idx} | stats count BY host',
  });
  for (const [, query] of SPL_PAIRS) {
    const response = await post(root, '/search2/api/validate/', { query });
    const { valid, errors } = (await response.json()) as { valid: boolean; errors: unknown[] };
    const isMissing = query.startsWith('savedsearch');
    expect({ query, valid: valid || isMissing, errors: isMissing ? [] : errors }).toEqual({
      query,
      valid: true,
      errors: [],
    });
  }
});

test('a run leaves its figures in the audit: whole, streamed, blank and wrong (EV-105)', async () => {
  await (await run({ query: 'from many | head 3' })).text();
  for (const format of ['ndjson', 'csv']) {
    const text = await (await run({ query: 'from many | table n', format })).text();
    expect(text).not.toContain('\0');
    expect(text.trim().split('\n').length).toBe(3001);
  }
  await (await run({ query: '' })).text();
  await (await run({ query: 'from many | hed' })).text();
  const details = await audited();
  const shown = details
    .slice(0, 5)
    .map((one) => one.replace(/\d+ ms$/, 'n ms').replace(/, \d+ sc/, ', n sc'));
  expect(shown.sort()).toEqual(
    [
      '0 rows, n scanned, n ms',
      '0 rows, n scanned, n ms',
      '3 rows, n scanned, n ms',
      '3000 rows, n scanned, n ms',
      '3000 rows, n scanned, n ms',
    ].sort(),
  );
});

test('closing the connection cancels the run, so the next one gets its turn (EV-98)', async () => {
  const leaving = new AbortController();
  const join = 'join host [ from many | fields host ]';
  const slow = run(
    { query: `from many | fields host | ${join} | ${join} | stats count`, timeout_ms: 300_000 },
    leaving.signal,
  );
  await Bun.sleep(100);
  leaving.abort();
  expect(await slow.then(() => 'answered').catch(() => 'left')).toBe('left');
  // One run at once for a user: this answer means that the other is over.
  await eventually(async () => {
    const response = await run({ query: 'from many | head 1' });
    expect(response.status).toBe(200);
  });
});

test('lookup and join see an edit of their dataset with the next query (SL-45)', async () => {
  const owners = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (const stage of ['lookup assets host OUTPUT owner', 'join type=left host FROM assets']) {
      const response = await run({ query: `from many | where n=1 | ${stage} | table owner` });
      found.push(((await response.json()) as { rows: { owner: unknown }[] }).rows[0]?.owner);
    }
    return found;
  };
  expect(await owners()).toEqual(['web', 'web']);
  svc.write('assets.csv', 'host,owner\nh1,soc and others\n');
  expect(await owners()).toEqual(['soc and others', 'soc and others']);
});
