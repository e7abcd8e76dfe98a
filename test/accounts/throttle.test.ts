import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { LoginThrottle } from '../../src/accounts/identity/throttle.ts';
import { testClock } from '../support/database.ts';

const MINUTE = 60_000;

function retryAfter(throttle: LoginThrottle, username: string, address: string): number | null {
  try {
    throttle.check({ username, address });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'throttled', message: 'Too many failed logins' });
    return Number((error as AppError).headers['Retry-After']);
  }
}

test('ten failures of a name from an address close the pair until the window clears (DS-102)', () => {
  const clock = testClock();
  const throttle = new LoginThrottle(clock);
  for (let n = 0; n < 10; n++) {
    expect(retryAfter(throttle, 'ada', 'A')).toBeNull();
    throttle.failed({ username: 'ada', address: 'A' });
    clock.pass(MINUTE);
  }
  expect(retryAfter(throttle, 'ada', 'A')).toBe(5 * 60);
  expect(retryAfter(throttle, 'bob', 'A')).toBeNull();
  expect(retryAfter(throttle, 'ada', 'B')).toBeNull();
  clock.pass(5 * MINUTE - 1);
  expect(retryAfter(throttle, 'ada', 'A')).toBe(1);
  clock.pass(1);
  expect(retryAfter(throttle, 'ada', 'A')).toBeNull();
  throttle.failed({ username: 'ada', address: 'A' });
  expect(retryAfter(throttle, 'ada', 'A')).toBe(60);
});

test('fifty failures close an address for every name', () => {
  const throttle = new LoginThrottle(testClock());
  for (let n = 0; n < 50; n++) {
    expect(retryAfter(throttle, 'ada', 'A')).toBeNull();
    throttle.failed({ username: `user${n}`, address: 'A' });
  }
  expect(retryAfter(throttle, 'ada', 'A')).toBe(15 * 60);
  expect(retryAfter(throttle, 'ada', 'B')).toBeNull();
});

test('an IPv6 client is its /64, and many of them their /48 (DS-102)', () => {
  const throttle = new LoginThrottle(testClock());
  for (let n = 0; n < 10; n++) {
    throttle.failed({ username: 'ada', address: `2001:db8:1:1::${n.toString(16)}` });
  }
  expect(retryAfter(throttle, 'ada', '2001:DB8:1:1:ffff::1')).not.toBeNull();
  for (let n = 0; n < 40; n++) {
    throttle.failed({ username: `u${n}`, address: `2001:db8:1:1:${n.toString(16)}::` });
  }
  expect(retryAfter(throttle, 'bob', '2001:0db8:0001:0001::7%eth0')).not.toBeNull();
  expect(retryAfter(throttle, 'bob', '2001:db8:1:2::7')).toBeNull();
  for (let n = 0; n < 450; n++) {
    throttle.failed({ username: 'eve', address: `2001:db8:1:${(n + 2).toString(16)}::1` });
  }
  expect(retryAfter(throttle, 'bob', '2001:db8:1:ffff::1')).not.toBeNull();
  expect(retryAfter(throttle, 'bob', '2001:db8:2:1::1')).toBeNull();
});

test('IPv4 clients behind a translator are clients of their own', () => {
  const throttle = new LoginThrottle(testClock());
  for (let n = 0; n < 50; n++) throttle.failed({ username: `u${n}`, address: '64:ff9b::c000:201' });
  expect(retryAfter(throttle, 'bob', '64:ff9b::192.0.2.1')).toBeNull();
  expect(retryAfter(throttle, 'bob', '64:ff9b::c000:201')).not.toBeNull();
  expect(retryAfter(throttle, 'bob', '64:ff9b::c000:202')).toBeNull();
});

test('a success resets the pair, not the address', () => {
  const throttle = new LoginThrottle(testClock());
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 9; n++) throttle.failed({ username: 'ada', address: 'A' });
    expect(retryAfter(throttle, 'ada', 'A')).toBeNull();
    throttle.succeeded({ username: 'ada', address: 'A' });
  }
  for (let n = 0; n < 5; n++) throttle.failed({ username: 'ada', address: 'A' });
  expect(retryAfter(throttle, 'bob', 'A')).toBe(15 * 60);
});

test('the wall clock set forward or back changes nothing', () => {
  const clock = testClock();
  const throttle = new LoginThrottle(clock);
  for (let n = 0; n < 10; n++) throttle.failed({ username: 'ada', address: 'A' });
  clock.setWall(Date.UTC(2099, 0, 1));
  expect(retryAfter(throttle, 'ada', 'A')).toBe(15 * 60);
  clock.setWall(0);
  expect(retryAfter(throttle, 'ada', 'A')).toBe(15 * 60);
});
