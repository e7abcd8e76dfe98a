/** Whether who was let in still would be, asked while a long answer is on its way (DS-97, EV-79). */
import { expect, test } from 'bun:test';
import { findApiKey, revokeApiKey } from '../../src/accounts/identity/api-keys.ts';
import { isStillAdmitted } from '../../src/http/hooks/admission.ts';
import { jsonReply } from '../../src/http/reply/reply.ts';
import { PASSWORD, startFixture } from './server-fixture.ts';

/** A request that is let in, and, once `change` was made, asks whether it still would be. */
async function stillAdmitted(
  credentialsOf: (at: Awaited<ReturnType<typeof startFixture>>) => Promise<Record<string, string>>,
  change: (at: Awaited<ReturnType<typeof startFixture>>) => Promise<unknown>,
  takesIngestCredentials = false,
): Promise<unknown> {
  const letIn = Promise.withResolvers<void>();
  const changed = Promise.withResolvers<void>();
  await using at = await startFixture({
    routes: [
      {
        pattern: '/long',
        access: 'user',
        takesIngestCredentials,
        methods: {
          GET: async (context) => {
            letIn.resolve();
            await changed.promise;
            return jsonReply(await isStillAdmitted(context));
          },
        },
      },
    ],
  });
  await at.user('ada', true);
  const answer = at.fetch('/long', { headers: await credentialsOf(at) });
  await letIn.promise;
  await change(at);
  changed.resolve();
  return (await answer).json();
}

type At = Parameters<Parameters<typeof stillAdmitted>[1]>[0];
const basic = { Authorization: `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}` };
const withBasic = async (): Promise<Record<string, string>> => basic;
const withKey = async (at: At): Promise<Record<string, string>> => ({
  'X-API-Key': await at.apiKey('ada'),
});
const run = (sql: string) => (at: At) => at.services.db.run(sql);
const nothing = async (): Promise<void> => undefined;

test('as long as nothing is taken away', async () => {
  expect(await stillAdmitted(withBasic, nothing)).toBe(true);
  expect(await stillAdmitted(withKey, nothing)).toBe(true);
  expect(await stillAdmitted(withKey, run('UPDATE users SET is_superuser = 1'))).toBe(true);
});

test('in the forms of log clients too', async () => {
  const withPassword = async (at: At) => {
    const pair = Buffer.from(`any:${await at.apiKey('ada')}`).toString('base64');
    return { Authorization: `Basic ${pair}` };
  };
  expect(await stillAdmitted(withPassword, nothing, true)).toBe(true);
  expect(await stillAdmitted(withPassword, run('UPDATE api_keys SET is_active = 0'), true)).toBe(
    false,
  );
});

test('not with a revoked key, not without the superuser right that was there', async () => {
  let value = '';
  const withNotedKey = async (at: At) => ({ 'X-API-Key': (value = await at.apiKey('ada')) });
  const revoke = async ({ services: { db, clock } }: At): Promise<void> => {
    const found = await findApiKey(db, value, clock.now());
    await revokeApiKey(db, found!.key.id);
  };
  expect(await stillAdmitted(withNotedKey, revoke)).toBe(false);
  expect(await stillAdmitted(withKey, run('UPDATE users SET is_superuser = 0'))).toBe(false);
});

test('not with a password nobody may try any more: who fails often enough would keep an old one in use', async () => {
  const failOften = async (at: At): Promise<void> => {
    const cheap = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const;
    const hash = await Bun.password.hash('another', cheap);
    await at.services.db.run('UPDATE users SET password_hash = ?', [hash]);
    const wrong = Buffer.from('ada:wrong').toString('base64');
    for (let time = 0; time < 10; time++) {
      await at.fetch('/auth/me', { headers: { Authorization: `Basic ${wrong}` } });
    }
  };
  expect(await stillAdmitted(withBasic, failOften)).toBe(false);
});
