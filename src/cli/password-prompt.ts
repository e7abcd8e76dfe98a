/**
 * A new password from flags, standard input or a terminal.
 *
 * Never echoed, never in a message. Prompts go to standard error, so a redirected result stays
 * clean. Without a terminal the flags must suffice.
 */
import { AppError } from '../base/errors.ts';

/** Lines come without their end; null means the input ended. */
export interface PasswordInput {
  readonly isTerminal: boolean;
  /** Without echo when `secret`. */
  ask(question: string, secret: boolean): Promise<string | null>;
  firstLine(): Promise<string | null>;
}

export const PASSWORD_FLAGS = [
  ['--password <text>', 'The password; visible to others in the process list.'],
  ['--password-confirm <text>', 'The password again, where no terminal can ask for it.'],
  ['--password-stdin', 'Read the password from the first line of standard input.'],
  ['--allow-weak-password', 'Accept a password that fails the strength rules.'],
] as const;

/**
 * Throws `usage` when the flags cannot lead to a password, `bad-request` when two entries differ or
 * the prompt was cancelled, `invalid-request` when it is empty or too long, `weak-password` when it
 * is weak and neither the flag nor the user allows it.
 */
export async function newPassword(request: {
  username: string;
  options: Readonly<Record<string, unknown>>;
  input: PasswordInput;
}): Promise<string> {
  const { username, options, input } = request;
  const password = await entered(options, input);
  const { checkPasswordLength } = await import('../accounts/identity/passwords.ts');
  const { judgePassword } = await import('../accounts/identity/password-strength.ts');
  checkPasswordLength(password, 'password');
  const found = await judgePassword(password, [username]);
  if (found === null || options['allowWeakPassword'] === true) return password;
  const question = `The password is weak (${found.reason}). Use it anyway? [y/N] `;
  const answer = input.isTerminal ? await input.ask(question, false) : null;
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return password;
  throw new AppError('weak-password', `Password refused: ${found.reason}. ${found.hint}`);
}

async function entered(
  options: Readonly<Record<string, unknown>>,
  input: PasswordInput,
): Promise<string> {
  const given = options['password'];
  const confirmation = options['passwordConfirm'];
  if (options['passwordStdin'] === true) {
    if (given !== undefined || confirmation !== undefined) {
      throw usage('--password-stdin: cannot be combined with --password or --password-confirm');
    }
    return required(await input.firstLine(), '--password-stdin: standard input is empty');
  }
  if (typeof given === 'string') return confirmed(given, confirmation, input);
  if (confirmation !== undefined) throw usage('--password-confirm: needs --password');
  if (!input.isTerminal) {
    throw usage('No password: use --password-stdin, or --password with --password-confirm');
  }
  return confirmed(await input.ask('Password: ', true), undefined, input);
}

async function confirmed(
  first: string | null,
  second: unknown,
  input: PasswordInput,
): Promise<string> {
  let again = second;
  if (again === undefined) {
    if (!input.isTerminal) throw usage('--password: needs --password-confirm');
    if (first !== null) again = await input.ask('Password again: ', true);
  }
  if (first === null || again === null) throw refusal('Cancelled');
  if (first !== again) throw refusal('Passwords do not match');
  return first;
}

function required(text: string | null, message: string): string {
  if (text === null) throw usage(message);
  return text;
}

function usage(message: string): AppError {
  return new AppError('usage', message);
}

function refusal(message: string): AppError {
  return new AppError('bad-request', message);
}
