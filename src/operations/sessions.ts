import { endSession as end, sessionList } from '../accounts/identity/sessions.ts';
import { AppError } from '../base/errors.ts';
import type { ListPage } from '../store/list-source.ts';
import {
  type Administrator,
  type AdminServices,
  type ListRequest,
  readList,
  recordChange,
} from './administration.ts';

/** Oldest first. Throws as `readList`. */
export async function listAllSessions(
  services: AdminServices,
  admin: Administrator,
  request: ListRequest,
): Promise<ListPage> {
  return readList(services, admin, sessionList(services.clock.now()), request);
}

/** Throws `not-found`. */
export async function endSession(
  services: AdminServices,
  admin: Administrator,
  sessionId: number,
): Promise<void> {
  if (!(await end(services.db, sessionId))) throw new AppError('not-found', 'Session not found');
  await recordChange(services, admin, {
    action: 'revoke_session',
    resource: 'auth',
    details: `Revoked session ${sessionId}`,
  });
}
