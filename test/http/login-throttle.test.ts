/**
 * Failed logins are counted (DS-102): per name and address, per address, over all doors, and whatever a client says
 * about its address.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { onSharedCores } from '../support/patience.ts';
import { sharedService } from './shared-service.ts';
import { PASSWORD } from '../support/password.ts';

/** Every failure costs a password hash, and fifty are needed. */

const PER_PAIR = 10;
const PER_ADDRESS = 50;
const HTML = { Accept: 'text/html' };

// Behind a trusted proxy, so that the tests can come from anywhere.
const shared = sharedService({
  files: { 'a.csv': 'n\n1\n' },
  config: { trusted_proxies: ['127.0.0.1', '10.0.0.0/8'] },
});

beforeAll(async () => {
  for (const name of ['anna', 'berta', 'carla', 'doris', 'emma', 'frida']) {
    await shared.service.accounts.user(name, { password: PASSWORD });
  }
});

const from = (address: string) => ({ 'X-Forwarded-For': address });
const basic = (username: string, password: string) => ({
  Authorization: `Basic ${btoa(`${username}:${password}`)}`,
});

function login(
  service: Service,
  username: string,
  password: string,
  headers: Record<string, string>,
) {
  return service.fetch('/auth/login', {
    method: 'POST',
    headers,
    body: JSON.stringify({ username, password }),
  });
}

/** Tries wrong passwords, a few at a time; answers the statuses. */
async function fail(
  times: number,
  headers: Record<string, string>,
  username: string | ((attempt: number) => string),
  service: Service = shared.service,
): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < times) {
    const batch = Array.from({ length: Math.min(4, times - statuses.length) }, (_, index) => {
      const attempt = statuses.length + index;
      const name = typeof username === 'string' ? username : username(attempt);
      return login(service, name, `wrong ${attempt}`, headers);
    });
    statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
  }
  return statuses;
}

const all = (status: number, times: number) => Array<number>(times).fill(status);

test('an IPv6 client is its /64, whatever address of it he comes from', async () => {
  for (let n = 0; n < PER_PAIR; n++) {
    const { status } = await login(shared.service, 'frida', 'wrong', from(`2001:db8:7:7::${n}`));
    expect(status).toBe(401);
  }
  const same = await login(shared.service, 'frida', PASSWORD, from('2001:db8:7:7:ffff::1'));
  const other = await login(shared.service, 'frida', PASSWORD, from('2001:db8:7:8::1'));
  expect([same.status, other.status]).toEqual([429, 200]);
});

describe('ten failures of one name from one address', () => {
  const address = from('192.0.2.1');
  beforeAll(async () => {
    expect(await fail(PER_PAIR, address, 'anna')).toEqual(all(401, PER_PAIR));
  });

  test('lead to 429 with Retry-After, also for the right password', async () => {
    for (const password of ['wrong again', PASSWORD]) {
      const response = await login(shared.service, 'anna', password, address);
      expect(response.status).toBe(429);
      expect(await response.text()).toBe('{"detail":"Too many failed logins"}');
      const retryAfter = Number(response.headers.get('Retry-After'));
      expect(retryAfter).toBeGreaterThan(14 * 60);
      expect(retryAfter).toBeLessThanOrEqual(15 * 60);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test('cost no more hashes: the refusal is quick', async () => {
    const start = performance.now();
    for (let attempt = 0; attempt < 50; attempt++)
      await login(shared.service, 'anna', 'x', address);
    expect(performance.now() - start).toBeLessThan(onSharedCores(3_000));
  });

  test('show an HTML client the login page, with 429', async () => {
    const response = await shared.service.fetch('/auth/login', {
      method: 'POST',
      headers: { ...address, ...HTML },
      body: new URLSearchParams({ username: 'anna', password: PASSWORD }),
    });
    expect(response.status).toBe(429);
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/);
    const page = await response.text();
    expect(page).toContain('Too many failed logins');
    expect(page).toContain('<form');
  });

  test('count for Basic and for the current password of PUT /auth/password too', async () => {
    const byBasic = await shared.service.fetch('/auth/me', {
      headers: { ...address, ...basic('anna', PASSWORD) },
    });
    expect(byBasic.status).toBe(429);
    const browser = await shared.service.inBrowserAs('anna');
    const change = await browser.fetch('/auth/password', {
      method: 'PUT',
      headers: address,
      body: JSON.stringify({ current_password: PASSWORD, new_password: 'Another-Horse 28 plug' }),
    });
    expect(change.status).toBe(429);
  });

  test('leave live sessions and keys alone (S-A4)', async () => {
    const clients = [await shared.service.inBrowserAs('anna'), await shared.service.as('anna')];
    for (const client of clients) {
      expect((await client.fetch('/auth/me', { headers: address })).status).toBe(200);
    }
  });

  test('leave other names from that address and that name from other addresses alone', async () => {
    expect((await login(shared.service, 'berta', PASSWORD, address)).status).toBe(200);
    expect((await login(shared.service, 'anna', PASSWORD, from('192.0.2.2'))).status).toBe(200);
  });

  test('are the same name in other spellings', async () => {
    for (const name of [' anna ', 'anna\t']) {
      expect((await login(shared.service, name, PASSWORD, address)).status).toBe(429);
    }
  });

  test('were audited as failures, the refusals were not (DS-140)', async () => {
    const { db } = shared.service.accounts;
    const [row] = await db.all<{ n: number }>(
      "SELECT count(*) AS n FROM audit WHERE ip_address = '192.0.2.1' AND details LIKE '%anna'",
    );
    // At most one a minute for the same name and address (DS-141).
    expect(row?.n).toBeGreaterThan(0);
    expect(row?.n).toBeLessThanOrEqual(2);
  });
});

test('the doors count together: form, Basic and password change (DS-102)', async () => {
  const address = from('192.0.2.10');
  const browser = await shared.service.inBrowserAs('carla');
  for (let round = 0; round < 3; round++) {
    expect((await login(shared.service, 'carla', 'wrong', address)).status).toBe(401);
    const byBasic = await shared.service.fetch('/auth/me', {
      headers: { ...address, ...basic('carla', `wrong ${round}`) },
    });
    expect(byBasic.status).toBe(401);
    const change = await browser.fetch('/auth/password', {
      method: 'PUT',
      headers: address,
      body: JSON.stringify({ current_password: 'wrong', new_password: 'x' }),
    });
    expect(change.status).toBe(400);
  }
  expect((await login(shared.service, 'carla', 'wrong', address)).status).toBe(401);
  expect((await login(shared.service, 'carla', PASSWORD, address)).status).toBe(429);
});

test('a success resets the counter of its pair (DS-102)', async () => {
  const address = from('192.0.2.20');
  expect(await fail(PER_PAIR - 1, address, 'doris')).toEqual(all(401, PER_PAIR - 1));
  expect((await login(shared.service, 'doris', PASSWORD, address)).status).toBe(200);
  expect(await fail(1, address, 'doris')).toEqual([401]);
  expect((await login(shared.service, 'doris', PASSWORD, address)).status).toBe(200);
});

describe('fifty failures from one address', () => {
  const address = '192.0.2.40';

  test('lock that address out for every name, whatever it adds to the left (S-A5, S-H3)', async () => {
    // What a client makes up stands to the left of what the trusted proxy adds.
    const spoofed = (attempt: number) => ({
      'X-Forwarded-For': `203.0.113.${attempt}, ${address}, 10.1.2.3`,
    });
    const name = (attempt: number) => (attempt < PER_PAIR ? 'nobody' : `guess ${attempt}`);
    for (let attempt = 0; attempt < PER_ADDRESS; attempt += 2) {
      const answers = await Promise.all(
        [attempt, attempt + 1].map((one) => login(shared.service, name(one), 'x', spoofed(one))),
      );
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
      if (attempt + 2 !== PER_PAIR) continue;
      // A name that does not exist is counted like one that does.
      expect((await login(shared.service, 'nobody', 'x', spoofed(0))).status).toBe(429);
    }
    expect((await login(shared.service, 'emma', PASSWORD, spoofed(99))).status).toBe(429);
    expect((await login(shared.service, 'emma', PASSWORD, from(address))).status).toBe(429);
    expect((await login(shared.service, 'emma', PASSWORD, from('192.0.2.41'))).status).toBe(200);
  });
});

describe('without a trusted proxy', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ config: { trusted_proxies: ['192.0.2.200'] } });
    await service.accounts.user('anna', { password: PASSWORD });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test('forwarding headers change nothing: rotating them does not evade the limit (S-H2, S-H3)', async () => {
    for (let attempt = 0; attempt < PER_PAIR; attempt++) {
      const headers = {
        'X-Forwarded-For': `198.51.100.${attempt}`,
        Forwarded: `for=198.51.100.${attempt}`,
        'X-Real-IP': `198.51.100.${attempt}`,
        'X-Client-IP': `198.51.100.${attempt}`,
      };
      expect((await login(service, 'anna', 'wrong', headers)).status).toBe(401);
    }
    const headers = { 'X-Forwarded-For': '198.51.100.99' };
    expect((await login(service, 'anna', PASSWORD, headers)).status).toBe(429);
    const rows = await service.accounts.db.all<{ ip_address: string }>(
      'SELECT DISTINCT ip_address FROM audit',
    );
    expect(rows).toEqual([{ ip_address: '127.0.0.1' }]);
  });

  test('a storm of wrong passwords keeps nobody else waiting (L11)', async () => {
    const storm = Array.from({ length: 24 }, (_, index) =>
      login(service, `storm ${index}`, 'x', {}),
    );
    const took: number[] = [];
    for (let asked = 0; asked < 20; asked++) {
      const start = performance.now();
      expect((await service.fetch('/health')).status).toBe(200);
      took.push(performance.now() - start);
    }
    const statuses = (await Promise.all(storm)).map(({ status }) => status);
    // Two hashes at a time, sixteen wait, the rest is told to come back.
    expect(statuses.every((status) => [401, 429, 503].includes(status))).toBe(true);
    expect(statuses).toContain(401);
    expect(took.toSorted((a, b) => a - b)[10]!).toBeLessThan(onSharedCores(1_000));
  });
});
