import { describe, expect, test } from 'bun:test';
import {
  MAX_PASSWORD_LENGTH,
  checkPasswordLength,
  dummyVerify,
  hashPassword,
  needsRehash,
  verifyPassword,
  weakness,
} from '../../src/auth/passwords.ts';

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

describe('strength (DS-110)', () => {
  test.each([
    'Ab1!efgh9',
    'password123',
    'PASSWORD123',
    'pass-word-123',
    'aaaaaaaaaaaa',
    'abababababab',
    'Correct-12345-horse',
    'Xy-54321-Quiet',
    'Xy9-ABC.DEF-hi!',
    'fedcba-Quiet-77',
    'Q.w.e.r.t.y-quiet7',
    'Quiet-asdf-Room7',
    'Quiet-ZXCV-Room7',
    'my-ADA-is-Good7x',
    'alllowercaseletters',
    'lowercase1234x',
    'Abcxyzghijk',
    'Abcghi7xyz',
  ])('%p is weak', (password) => {
    expect(weakness(password, 'ada')).not.toBeNull();
  });

  test.each([
    'Quiet-Room7',
    'Quiet.Roo7',
    'quiet-room-77',
    'QuietRoom7777',
    'Stra\u00dfe-im-Mai',
    'QUIET-ROOM-77',
    '\u00fcbung-\u00c4pfel1',
  ])('%p is strong', (password) => {
    expect(weakness(password, 'ada')).toBeNull();
  });

  test('counts characters, not UTF-16 units', () => {
    expect(weakness('😀😃😄😁😆a1B', 'ada')).toMatch(/10 characters/);
  });
});
