import type { Command as Parser } from 'commander';
import type { Invocation } from './command.ts';

export function describeJson(parser: Parser): void {
  parser.option('--json', 'Print JSON.');
}

export function wantsJson({ options }: Pick<Invocation, 'options'>): boolean {
  return options['json'] === true;
}

/** One line of JSON with `--json`, else what `text` returns. */
export function answerText<T>(
  invocation: Pick<Invocation, 'options'>,
  answer: T,
  text: (answer: T) => string,
): string {
  return wantsJson(invocation) ? `${JSON.stringify(answer)}\n` : text(answer);
}

export function printAnswer<T>(
  invocation: Pick<Invocation, 'options' | 'outside'>,
  answer: T,
  text: (answer: T) => string,
): void {
  invocation.outside.out(answerText(invocation, answer, text));
}
