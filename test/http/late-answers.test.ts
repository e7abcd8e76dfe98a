/**
 * Answers that come later than the turn that took their request: whole, with their length, whatever their size, and on a
 * connection that goes on.
 */
import { expect, test } from 'bun:test';
import { rawRequest } from './raw-request.ts';
import { sharedService } from './shared-service.ts';

const ROWS = 1_000;
/** 1,000 bytes in UTF-8. */
const TEXT = '§é€🙂x'.repeat(83) + 'last';
const lines = Array.from({ length: ROWS }, (_, n) => `${n},${TEXT}`);
const shared = sharedService({ files: { 'wide.csv': `n,t\n${lines.join('\n')}\n` } });

test('A search of any size tells the length of its answer and sends all of it', async () => {
  const key = await shared.service.accounts.apiKey('root');
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  for (const rows of [1, 10, 11, 12, 13, 16, 20, 400, 900]) {
    const body = JSON.stringify({ query: `from wide | sort n | head ${rows}` });
    const asked = { method: 'POST', path: '/search2/api/run/', headers, body };
    const answer = await rawRequest(shared.service.url, asked);
    expect([rows, answer.status]).toEqual([rows, 200]);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(answer.headers['transfer-encoding']).toBeUndefined();
    const told = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(answer.body));
    expect(told.rows).toEqual(Array.from({ length: rows }, (_, n) => ({ n, t: TEXT })));
  }
});

test('A connection takes large late answers one after another, and survives readers that go in their middle', async () => {
  const client = await shared.service.as('reader');
  // Unsorted and unindexed: a worker reads it.
  const path = `/api/wide/?limit=400&columns=t&sort=-t&filter=${encodeURIComponent('{"t":{"$contains":"x"}}')}`;
  const whole = await (await client.fetch(path)).text();
  expect(whole.length).toBeGreaterThan(100_000);
  for (let round = 0; round < 20; round++) {
    const stop = new AbortController();
    const broken = client.fetch(path, { signal: stop.signal });
    if (round % 2 === 0) {
      const reader = (await broken).body!.getReader();
      await reader.read();
    }
    stop.abort();
    await broken.catch(() => undefined);
    expect(await (await client.fetch(path)).text()).toBe(whole);
  }
});
