import { describe, expect, test } from 'bun:test';
import { judgePassword } from '../../src/accounts/identity/password-strength.ts';

describe('strength (DS-110)', () => {
  test.each([
    ['Ab1!efgh9', 'it is shorter than 10 characters'],
    ['P@ssw0rd123', 'it is made of a common word or name'],
    ['qwertyuiop123', 'it is made of a common word or name'],
    ['$%^&*()_+%^&*', 'it follows the keys of a keyboard'],
    ['aaaaaaaaaaaaaaaa', 'it repeats itself'],
    ['abcdefghijkl', 'it contains a run such as 1234 or abcd'],
    ['ada.lovelace', 'it is made of the username or the site’s name'],
    ['data.example', 'it is made of the username or the site’s name'],
    ['24.12.2024.', 'it contains a date'],
  ])('%p is weak: %s', async (password, reason) => {
    const found = await judgePassword(password, ['ada.lovelace', 'data', 'example']);
    expect(found).toEqual({ reason, hint: expect.stringContaining('unrelated words') });
  });

  test.each([
    'correct horse battery staple',
    'alllowercaseletters',
    'Quiet-Room7-1',
    '\u00fcbung-\u00c4pfel1',
    '\u6b63\u3057\u3044\u99ac\u306e\u96fb\u6c60\u306e\u91dd\u3060',
  ])('%p is strong', async (password) => {
    expect(await judgePassword(password, ['ada'])).toBeNull();
  });

  test('counts characters, not UTF-16 units', async () => {
    expect((await judgePassword('😀😃😄😁😆a1B', []))?.reason).toMatch(/10 characters/);
  });

  test('what stands behind the first 128 characters is not judged', async () => {
    expect(await judgePassword('a'.repeat(128) + 'Quiet-Room7-1 of the moon', [])).not.toBeNull();
  });
});
