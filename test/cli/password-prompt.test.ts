import { describe, expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { newPassword } from '../../src/cli/password-prompt.ts';
import type { PasswordInput } from '../../src/cli/password-prompt.ts';

const STRONG = 'Correct-horse-7-battery';
const WEAK = 'password';

interface Asked {
  readonly question: string;
  readonly secret: boolean;
}

/** A terminal with somebody who types these answers, or none when there are no answers. */
function typing(answers: readonly (string | null)[] | null, piped: string | null = null) {
  const asked: Asked[] = [];
  const input: PasswordInput = {
    isTerminal: answers !== null,
    ask: async (question, secret) => {
      asked.push({ question, secret });
      return answers?.[asked.length - 1] ?? null;
    },
    firstLine: async () => piped,
  };
  return { asked, input };
}

async function outcome(options: Record<string, unknown>, input: PasswordInput): Promise<string> {
  try {
    return await newPassword({ username: 'ada', options, input });
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe('without flags (DS-202)', () => {
  test('a terminal is asked twice without echo', async () => {
    const { asked, input } = typing([STRONG, STRONG]);
    expect(await outcome({}, input)).toBe(STRONG);
    expect(asked.map(({ secret }) => secret)).toEqual([true, true]);
  });

  test('entries that differ are refused', async () => {
    const { input } = typing([STRONG, `${STRONG}!`]);
    expect(await outcome({}, input)).toBe('bad-request: Passwords do not match');
  });

  test('leaving either prompt cancels', async () => {
    for (const answers of [[null], [STRONG, null]]) {
      const { asked, input } = typing(answers);
      expect(await outcome({}, input)).toBe('bad-request: Cancelled');
      expect(asked).toHaveLength(answers.length);
    }
  });

  test('without a terminal nothing is asked', async () => {
    expect(await outcome({}, typing(null).input)).toStartWith(
      'usage: No password: use --password-stdin',
    );
  });
});

describe('with flags (DS-202)', () => {
  test('--password is confirmed by its flag, or else on the terminal', async () => {
    const flags = { password: STRONG, passwordConfirm: STRONG };
    expect(await outcome(flags, typing(null).input)).toBe(STRONG);
    const { asked, input } = typing([STRONG]);
    expect(await outcome({ password: STRONG }, input)).toBe(STRONG);
    expect(asked).toEqual([{ question: 'Password again: ', secret: true }]);
  });

  test.each([
    [{ password: STRONG, passwordConfirm: 'other' }, 'bad-request: Passwords do not match'],
    [{ password: STRONG }, 'usage: --password: needs --password-confirm'],
    [{ passwordConfirm: STRONG }, 'usage: --password-confirm: needs --password'],
    [{ password: STRONG, passwordStdin: true }, 'usage: --password-stdin: cannot be combined'],
    [{ passwordStdin: true }, 'usage: --password-stdin: standard input is empty'],
    [{ password: '', passwordConfirm: '' }, 'invalid-request: '],
    [{ password: 'x'.repeat(1025), passwordConfirm: 'x'.repeat(1025) }, 'invalid-request: '],
  ])('case %#: %j without a terminal', async (options, expected) => {
    expect(await outcome(options, typing(null).input)).toStartWith(expected);
  });

  test('--password-stdin takes one line as it is', async () => {
    const { input } = typing(null, ` ${STRONG} `);
    expect(await outcome({ passwordStdin: true }, input)).toBe(` ${STRONG} `);
  });
});

describe('a weak password (DS-110, DS-202)', () => {
  test.each(['y', 'YES', ' y '])('is taken when the question is answered %p', async (answer) => {
    const { asked, input } = typing([WEAK, WEAK, answer]);
    expect(await outcome({}, input)).toBe(WEAK);
    expect(asked[2]).toMatchObject({ secret: false });
    expect(asked[2]!.question).toEndWith('[y/N] ');
  });

  test.each(['', 'n', 'maybe', null])('is refused when the answer is %p', async (answer) => {
    const { input } = typing([WEAK, WEAK, answer]);
    expect(await outcome({}, input)).toStartWith('weak-password: Password refused: ');
  });

  test('is refused without a terminal, unless the flag allows it', async () => {
    const { input } = typing(null, WEAK);
    expect(await outcome({ passwordStdin: true }, input)).toStartWith('weak-password: ');
    const allowed = { passwordStdin: true, allowWeakPassword: true };
    expect(await outcome(allowed, input)).toBe(WEAK);
  });
});
