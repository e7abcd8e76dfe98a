import type { AccountsApp } from '../app.ts';
import { deleteSession, sessionList } from '../accounts/identity/sessions.ts';
import { AppError } from '../base/errors.ts';
import { type Administrator, listOf } from './administration.ts';
import { record } from './access.ts';

/** Oldest first. Throws as `listOf`. */
export const listAllSessions = listOf(({ clock }: AccountsApp) => sessionList(clock.now()));

/** Throws `not-found`. */
export async function endSession(
  services: AccountsApp,
  admin: Administrator,
  sessionId: number,
): Promise<void> {
  if (!(await deleteSession(services.db, sessionId)))
    throw new AppError('not-found', 'Session not found');
  await record(services, admin, 'revoke_session', 'auth', `Revoked session ${sessionId}`);
}
