/**
 * Credentials of senders that nobody has, for operators: known only by the start of their hash.
 */
import { refusalOf } from '../../accounts/identity/refusal.ts';
import { splitAuthorization } from '../../accounts/identity/method.ts';
import type { AppError } from '../../base/errors.ts';
import type { Context } from '../context.ts';

/** Counts a refused credential of an accepting request. Passwords are never hashed: of Basic the name counts. */
export async function noteUnknownSender(context: Context, reason: AppError): Promise<void> {
  if (context.method !== 'POST' || refusalOf(reason)?.reason !== 'unknown') return;
  const { headers } = context.request;
  const split = splitAuthorization(headers.get('authorization'));
  const key = headers.get('x-api-key')?.trim();
  const value = split?.scheme === 'basic' ? nameOf(split.rest) : (split?.rest ?? key);
  if (value === undefined || value === '') return;
  context.services.ingestCounters.noteUnknown(value, context.peer.address);
}

function nameOf(basic: string): string {
  return Buffer.from(basic, 'base64').toString().split(':', 1)[0] ?? '';
}
