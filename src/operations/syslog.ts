/** Stores messages of a syslog listener with the rights of its configured user. */
import type { App } from '../app.ts';
import type { Principal } from '../accounts/rights/principal.ts';
import { findUser } from '../accounts/identity/users.ts';
import { AppError } from '../base/errors.ts';
import type { SyslogListenerSetting } from '../config/syslog-listener.ts';
import { syslogBody } from '../events/intake/dialects/syslog-frames.ts';
import { ingestEvents } from './events.ts';

/**
 * They are on disk when it resolves. Throws `permission-denied` when the user is gone, inactive or without the right,
 * `throttled` and `unavailable` when it may be tried again.
 */
export async function storeSyslog(
  services: App,
  listener: SyslogListenerSetting,
  messages: readonly { readonly peer: string; readonly bytes: Uint8Array }[],
): Promise<void> {
  const caller = await principalOf(services, listener.user);
  const parameters = {
    source: `syslog:${listener.name}`,
    ...(listener.index !== null && { index: listener.index }),
    ...(listener.sourcetype !== null && { sourcetype: listener.sourcetype }),
  };
  await ingestEvents(
    services,
    caller,
    { clientAddress: messages[0]?.peer ?? null },
    {
      dialect: 'syslog',
      mode: '',
      mediaType: '',
      parameters,
      headers: {},
      body: syslogBody(messages),
      events: messages.length,
      isDryRun: false,
      isMinimal: false,
      idempotency: null,
      sender: { kind: 'listener', id: listener.name, label: listener.user },
    },
  );
}

async function principalOf({ db }: App, name: string): Promise<Principal> {
  const user = await findUser(db, name);
  if (user === null || !user.isActive) {
    throw new AppError('permission-denied', `There is no active user '${name}'`);
  }
  return {
    userId: user.id,
    username: user.username,
    isSuperuser: user.isSuperuser,
    credential: 'token',
    sessionId: null,
    apiKeyId: null,
    scopes: null,
  };
}
