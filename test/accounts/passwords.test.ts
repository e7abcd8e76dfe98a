import { describe, expect, test } from 'bun:test';
import {
  MAX_PASSWORD_LENGTH,
  checkPasswordLength,
  dummyVerify,
  hashPassword,
  needsRehash,
  verifyPassword,
} from '../../src/accounts/identity/passwords.ts';

describe('hashes (DS-109)', () => {
  test('are argon2id above the floor and verify what was typed, byte by byte', async () => {
    const password = 'Zo\u00eb ist \u{1f642} da  ';
    const phc = await hashPassword(password);
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$/);
    expect(needsRehash(phc)).toBe(false);
    expect(await verifyPassword(password, phc)).toBe(true);
    expect(await verifyPassword(password.normalize('NFD'), phc)).toBe(false);
    expect(await verifyPassword(password.trim(), phc)).toBe(false);
  });

  test('tell passwords apart that differ after byte 72', async () => {
    const long = 'x'.repeat(MAX_PASSWORD_LENGTH - 1);
    const phc = await hashPassword(`${long}a`);
    expect(await verifyPassword(`${long}b`, phc)).toBe(false);
    expect(await verifyPassword(`${long}a`, phc)).toBe(true);
  });

  test('are refused for nothing and for more than 1024 characters', async () => {
    await expect(hashPassword('x'.repeat(1025))).rejects.toMatchObject({
      code: 'invalid-request',
      issues: [{ type: 'string_too_long', ctx: { max_length: 1024 } }],
    });
    await expect(hashPassword('')).rejects.toMatchObject({ code: 'invalid-request' });
    expect(() => checkPasswordLength('😀'.repeat(1024), 'password')).not.toThrow();
    expect(() => checkPasswordLength('😀'.repeat(1025), 'password')).toThrow();
  });

  test('never verify an empty, overlong or unreadable one, and do not throw', async () => {
    expect(await verifyPassword('', 'x')).toBe(false);
    expect(await verifyPassword('x'.repeat(1_000_000), '$argon2id$')).toBe(false);
    expect(await verifyPassword('secret', '!')).toBe(false);
    expect(await verifyPassword('secret', '')).toBe(false);
    expect(await dummyVerify('secret')).toBe(false);
  });

  test('of weaker parameters or another kind are due for renewal', () => {
    expect(needsRehash('$argon2id$v=19$m=19456,t=2,p=1$a$b')).toBe(true);
    expect(needsRehash('$argon2id$v=19$m=65536,t=1,p=1$a$b')).toBe(true);
    expect(needsRehash('$argon2id$v=19$m=131072,t=3,p=1$a$b')).toBe(false);
    expect(needsRehash('$2b$10$abc')).toBe(true);
  });

  test('queue up to 16 and are then refused as unavailable', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => dummyVerify('x')));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(2);
    expect(refused[0]?.reason).toMatchObject({ code: 'unavailable' });
  });
});
