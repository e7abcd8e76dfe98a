/**
 * `--json`: the same answer for programs.
 */
import type { Command as Parser } from 'commander';
import type { Invocation } from './command.ts';

/** Declares `--json`. */
export function describeJson(parser: Parser): void {
  parser.option('--json', 'Print JSON.');
}

/** Whether `--json` was given. */
export function wantsJson({ options }: Pick<Invocation, 'options'>): boolean {
  return options['json'] === true;
}

/** Prints an answer: as one line of JSON when `--json` asks for it, else what `text` makes of it. */
export function printAnswer<T>(
  invocation: Pick<Invocation, 'options' | 'outside'>,
  answer: T,
  text: (answer: T) => string,
): void {
  invocation.outside.out(wantsJson(invocation) ? `${JSON.stringify(answer)}\n` : text(answer));
}
