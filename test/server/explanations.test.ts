/** Who may read events where the configuration opens them to all: explained as the service acts (EV-22). */
import { expect, test } from 'bun:test';
import { createUser } from '../../src/accounts/identity/users.ts';
import { configFrom, settings } from '../../src/config/settings.ts';
import type { Registry } from '../../src/docroot/registry/registry.ts';
import { OPERATOR } from '../../src/operations/administration.ts';
import { mayReadEvents } from '../../src/operations/events/event-access.ts';
import { explainAccess, listAllowed } from '../../src/operations/accounts/access-explanations.ts';
import { temporaryDatabase, testClock } from '../support/database.ts';

test.each(['none', 'read'] as const)('with events.default_access %s', async (access) => {
  await using at = await temporaryDatabase();
  const { db } = at;
  const clock = testClock();
  const own = new Map<string, unknown>([['events.default_access', access]]);
  const config = configFrom((key) => own.get(key) ?? settings[key].default);
  const registry = { list: () => [], lookup: () => null } as unknown as Registry;
  const services = { db, clock, registry, config };
  const made = { passwordHash: null, isSuperuser: false, now: clock.now() };
  const { id: userId, username } = await createUser(db, { username: 'ada', ...made });
  const caller = { userId, username, isSuperuser: false, credential: 'session' } as const;
  const principal = { ...caller, sessionId: null, apiKeyId: null, scopes: null };
  const isOpen = access === 'read';
  expect(await mayReadEvents(services, principal)).toBe(isOpen);
  for (const resource of ['@events', '@events/web']) {
    const ask = (action: 'read' | 'write') =>
      explainAccess(services, OPERATOR, { username, resource, action });
    expect(await ask('read')).toMatchObject({
      allowed: isOpen,
      reason: isOpen ? 'default-access' : 'no-permission',
    });
    expect(await ask('write')).toMatchObject({ allowed: false, reason: 'no-permission' });
    const { notes } = await listAllowed(services, OPERATOR, { resource, action: 'read' });
    expect(notes.join()).toMatch(isOpen ? /^Every active user may read events/ : /^$/);
  }
  const file = { username, resource: 'sales', action: 'read' } as const;
  expect((await explainAccess(services, OPERATOR, file)).allowed).toBe(false);
});
