/**
 * Between plain forms and operations: what a form's fields are as a request body, and what went wrong as a sentence.
 */
import { AppError } from '../base/errors.ts';

/** Why a form was refused, for the person who filled it in. */
export function problemText(error: AppError): string {
  if (error.code === 'weak-password') return `${error.message}. ${error.hint ?? ''}`;
  return (
    error.issues?.map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}.`).join(' ') ??
    error.message
  );
}

/** An id from a hidden field. Throws `bad-request`. */
export function idOf(text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw new AppError('bad-request', 'The form names no id');
}

/** The request for an API key in a form; what it leaves empty is absent. */
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
