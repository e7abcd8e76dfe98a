/** From the fields of a plain form to a request body, and from a failure to a sentence. */
import { AppError } from '../base/errors.ts';

export function problemText(error: AppError): string {
  if (error.code === 'weak-password') return `${error.message}. ${error.hint ?? ''}`;
  return (
    error.issues?.map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}.`).join(' ') ??
    error.message
  );
}

/** Throws `bad-request`. */
export function idOf(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw new AppError('bad-request', 'The form names no id');
}

/** Empty fields are absent. */
export function keyRequest(field: (name: string) => string): Record<string, unknown> {
  const description = field('description').trim();
  const days = field('expires_in_days').trim();
  const scopes = field('scopes')
    .split(/[\s,]+/)
    .filter((scope) => scope !== '');
  return {
    ...(description !== '' && { description }),
    ...(days !== '' && { expires_in_days: /^[0-9]+$/.test(days) ? Number(days) : days }),
    ...(scopes.length > 0 && { scopes }),
  };
}
