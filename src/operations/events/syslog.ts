/** Stores messages of a syslog listener with the rights of its configured user. */
import type { App } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { findUser, principalOf } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import type { SyslogListenerSetting } from '../../config/syslog-listener.ts';
import { syslogBody } from '../../events/intake/dialects/syslog-frames.ts';
import { ingestEvents } from './events.ts';

const MAX_SAMPLE = 2048;

/**
 * They are on disk when it resolves. Throws `permission-denied` when the user is gone, inactive or without the right,
 * `throttled` and `unavailable` when it may be tried again.
 */
export async function storeSyslog(
  services: App,
  listener: SyslogListenerSetting,
  messages: readonly { readonly peer: string; readonly bytes: Uint8Array }[],
): Promise<void> {
  const caller = await activeUser(services, listener.user);
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

/** Why a configured listener could not store anything; null when each has its user. */
export async function findListenerProblem({
  db,
  config,
}: Pick<App, 'db' | 'config'>): Promise<string | null> {
  for (const { name, user } of config.events.syslog) {
    if ((await findUser(db, user)) === null)
      return `events.syslog: there is no user '${user}' with whose rights '${name}' would store: create it with svc admin create-user, or name another`;
  }
  return null;
}

/** Messages that were received and are not stored. */
export function noteLostSyslog(
  { ingestCounters }: App,
  { name: id, user: label }: SyslogListenerSetting,
  lost: {
    readonly messages: readonly { readonly peer: string; readonly bytes: Uint8Array }[];
    readonly reason: string;
    readonly status: number;
  },
): void {
  const { messages, reason, status } = lost;
  const [{ peer, bytes }] = messages as [(typeof messages)[number]];
  ingestCounters.noteLost({ kind: 'listener', id, label }, 'syslog', {
    count: messages.length,
    kind: status === 403 ? 'forbidden' : status >= 500 ? 'unavailable' : 'invalid',
    reason,
    position: `message of ${peer}`,
    sample: () => Buffer.from(bytes).toString('utf8', 0, MAX_SAMPLE),
  });
}

async function activeUser({ db }: App, name: string): Promise<Principal> {
  const user = await findUser(db, name);
  if (user === null || !user.isActive) {
    throw new AppError('permission-denied', `There is no active user '${name}'`);
  }
  return principalOf(user);
}
