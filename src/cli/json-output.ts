import type { Invocation } from './command.ts';

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
