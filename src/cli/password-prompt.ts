/**
 * A new password from flags, standard input or a terminal (DS-202).
 *
 * Never echoed, never in a message. Prompts go to standard error, so a redirected result stays clean. Where no
 * terminal is attached nothing is asked and the flags have to suffice.
 */
import type { Command as Parser } from 'commander';
import { AppError } from '../base/errors.ts';

/** Where typed text comes from. Lines come without their end; null means the input ended. */
export interface PasswordInput {
  /** Someone can be asked. */
  readonly isTerminal: boolean;
  /** Asks on a terminal, without echo when `secret`. */
  ask(question: string, secret: boolean): Promise<string | null>;
  /** The first line of standard input. */
  firstLine(): Promise<string | null>;
}

/** Declares the password flags. */
export function describePassword(parser: Parser): void {
  parser
    .option('--password <text>', 'The password; visible to others in the process list.')
    .option('--password-confirm <text>', 'The password again, where no terminal can ask for it.')
    .option('--password-stdin', 'Read the password from the first line of standard input.')
    .option('--allow-weak-password', 'Accept a password that fails the strength rules.');
}

/**
 * The password to set for `username`. Throws AppError `usage` when the flags cannot lead to one, `bad-request` when
 * two entries differ or the prompt was left, `invalid-request` when the password is empty or too long, `weak-password` when it is weak (DS-110) and
 * neither the flag nor the answer to the question allows it.
 */
export async function newPassword(request: {
  username: string;
  options: Readonly<Record<string, unknown>>;
  input: PasswordInput;
}): Promise<string> {
  const { username, options, input } = request;
  const password = await entered(options, input);
  const { checkPasswordLength, weakness } = await import('../auth/passwords.ts');
  checkPasswordLength(password, 'password');
  const reason = weakness(password, username);
  if (reason === null || options['allowWeakPassword'] === true) return password;
  const question = `The password is weak (${reason}). Use it anyway? [y/N] `;
  const answer = input.isTerminal ? await input.ask(question, false) : null;
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return password;
  throw new AppError('weak-password', `Password refused: ${reason}`);
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
