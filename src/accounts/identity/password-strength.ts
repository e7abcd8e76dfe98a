/**
 * How many guesses a password withstands, by zxcvbn. A check takes 2 to 800 ms and the dictionaries half a second to
 * load, so the server asks a child process (`strengthJobs`).
 */
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import type { ChildPool } from '../../processes/child-pool.ts';
import type { Config } from '../../config/settings.ts';

const LEAST_CHARACTERS = 10;
/** 10^10: hours for an attacker with the hash on a fast machine, never over the network. */
const LEAST_GUESSES = 1e10;
/** Further characters cost time and make no password weaker. */
const JUDGED_CHARACTERS = 128;
const TIMEOUT_MS = 15_000;

interface Weakness {
  readonly reason: string;
  readonly hint: string;
}

/** Null for a strong one. */
export type JudgePassword = (password: string, username: string) => Promise<Weakness | null>;

const LONGER = 'Four or five unrelated words are strong and easy to remember.';

const REASONS: Readonly<Record<string, string>> = {
  bruteforce: 'it is too short',
  date: 'it contains a date',
  dictionary: 'it is made of a common word or name',
  regex: 'it contains a year',
  repeat: 'it repeats itself',
  sequence: 'it contains a run such as 1234 or abcd',
  spatial: 'it follows the keys of a keyboard',
};

let loading: Promise<ZxcvbnFactory> | null = null;

async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}

/** `words` are what others guess first here. */
export async function judgePassword(
  password: string,
  words: readonly string[],
): Promise<Weakness | null> {
  if ([...password].length < LEAST_CHARACTERS) {
    return { reason: `it is shorter than ${LEAST_CHARACTERS} characters`, hint: LONGER };
  }
  const zxcvbn = await (loading ??= load());
  const judged = [...password].slice(0, JUDGED_CHARACTERS).join('');
  const { guesses, sequence } = zxcvbn.check(
    judged,
    words.filter((word) => word !== ''),
  );
  if (guesses >= LEAST_GUESSES) return null;
  const longest = sequence.toSorted((one, other) => other.token.length - one.token.length)[0];
  const isOwn = longest?.pattern === 'dictionary' && longest['dictionaryName'] === 'userInputs';
  const reason = isOwn
    ? 'it is made of the username or the site’s name'
    : REASONS[longest?.pattern ?? ''];
  return { reason: reason ?? 'it is easy to guess', hint: LONGER };
}

export function strengthJobs(): Record<string, (body: unknown) => Promise<Response>> {
  return {
    'password-strength': async (body) => {
      const { password, words } = body as { password: string; words: readonly string[] };
      return Response.json(await judgePassword(password, words));
    },
  };
}

export function judgedIn(pool: ChildPool, config: () => Config): JudgePassword {
  return async (password, username) => {
    const { allowed_hosts: hosts, public_url: address } = config();
    const names = [...hosts, address ?? ''].flatMap((text) => text.split(/[^\p{L}\p{N}-]+/u));
    const order = { password, words: [username, 'svc', ...names] };
    const answer = await pool.request('/password-strength', order, { timeoutMs: TIMEOUT_MS });
    return (await answer.json()) as Weakness | null;
  };
}
