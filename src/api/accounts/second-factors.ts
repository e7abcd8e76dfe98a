/** Second factors of the caller's account, and the step of a sign-in that asks for one. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { siteOf, type Site } from '../../accounts/factors/passkeys.ts';
import { AppError } from '../../base/errors.ts';
import { Input } from '../../base/json/input.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { browserOf, safeNext, signedIn } from '../../http/hooks/session.ts';
import { emptyReply, jsonReply, type Reply } from '../../http/reply/reply.ts';
import {
  addPasskey,
  beginApp,
  beginPasskey,
  confirmApp,
  describeFactors,
  finishSignIn,
  passkeyOptions,
  removeFactor,
  renewRecoveryCodes,
  signInWithPasskey,
} from '../../operations/accounts/second-factors.ts';
import { messageModel, nullable } from './account-models.ts';

const MAX_BYTES = 64 * 1024;
const dateTime = Type.String({ format: 'date-time' });
const password = Type.String({ format: 'password', description: 'Of the account, once more' });
const credential = Type.Object(
  {},
  { additionalProperties: true, description: 'As the `toJSON` of a PublicKeyCredential' },
);
const codes = Type.Array(Type.String(), { description: 'Ten, each good once; shown only now' });
const factorsModel = Type.Object(
  {
    factors: Type.Array(
      Type.Object({
        id: Type.Integer(),
        kind: Type.String({ description: 'totp or passkey' }),
        name: Type.String(),
        created_at: dateTime,
        last_used_at: nullable(dateTime),
      }),
    ),
    recovery_codes_left: Type.Integer(),
    required: Type.Boolean({ description: 'By the configuration of the site' }),
  },
  { $id: 'SecondFactors' },
);
const appModel = Type.Object({
  secret: Type.String({ description: 'Base32' }),
  uri: Type.String({ description: '`otpauth:`, as in the QR code' }),
});
const addedModel = Type.Object({
  recovery_codes: Type.Union([codes, Type.Null()], { description: 'With the first factor' }),
});
const optionsModel = Type.Object({}, { additionalProperties: true });

const own = {
  access: 'user',
  hasJsonErrors: true,
  refusesScopedKeys: true,
  admitsUnproven: true,
  body: { maxBytes: MAX_BYTES },
} as const satisfies RouteRules;
const open = {
  access: 'public',
  hasJsonErrors: true,
  requiresOwnOrigin: true,
  isExemptFromReadOnly: true,
  neverRedirects: true,
  admitsUnproven: true,
  body: { maxBytes: MAX_BYTES },
} as const satisfies RouteRules;

const takes = (summary: string, schema: object, answer: object | null, errors: number[]) =>
  ({
    summary,
    tag: 'auth',
    body: { schema: schema as never, required: true },
    answers: { [answer === null ? 204 : 200]: { description: 'Done', schema: answer as never } },
    errors,
  }) as const;

export const secondFactorRoutes = new Elysia({ name: 'second-factors', prefix: '/auth' })
  .use(lifecycle)
  .get(
    '/factors',
    async ({ ask: { services, user } }) => jsonReply(await describeFactors(services, user)),
    {
      checks: own,
      describes: {
        summary: 'List your second factors',
        tag: 'auth',
        answers: {
          200: { description: 'What you sign in with besides your password', schema: factorsModel },
        },
        errors: [403],
      },
    },
  )
  .post(
    '/factors/app',
    async ({ ask }) => {
      const { password: given, name } = await read(ask);
      return jsonReply(
        await beginApp(ask.services, ask.user, ask.origin, { password: given(), name }),
      );
    },
    {
      checks: own,
      describes: takes(
        'Begin to add an authenticator app',
        Type.Object({ password, name: Type.Optional(Type.String()) }),
        appModel,
        [400, 403, 409, 429],
      ),
    },
  )
  .post(
    '/factors/app/confirm',
    async ({ ask }) => {
      const { code } = await read(ask);
      const made = await confirmApp(ask.services, ask.user, ask.origin, code());
      return jsonReply({ recovery_codes: made });
    },
    {
      checks: own,
      describes: takes(
        'Add the app with a code it shows',
        Type.Object({ code: Type.String() }),
        addedModel,
        [400, 403, 429],
      ),
    },
  )
  .post(
    '/factors/passkey/options',
    async ({ ask }) => {
      const { password: given } = await read(ask);
      return jsonReply(
        await beginPasskey(ask.services, ask.user, ask.origin, siteIn(ask), given()),
      );
    },
    {
      checks: own,
      describes: takes(
        'Begin to add a passkey',
        Type.Object({ password }),
        optionsModel,
        [400, 403, 409, 429],
      ),
    },
  )
  .post(
    '/factors/passkey',
    async ({ ask }) => {
      const { name, credential: made } = await read(ask);
      const order = { name, credential: made };
      const found = await addPasskey(ask.services, ask.user, ask.origin, siteIn(ask), order);
      return jsonReply({ recovery_codes: found });
    },
    {
      checks: own,
      describes: takes(
        'Add a passkey',
        Type.Object({ credential, name: Type.Optional(Type.String()) }),
        addedModel,
        [400, 403, 409],
      ),
    },
  )
  .post(
    '/factors/recovery-codes',
    async ({ ask }) => {
      const { password: given } = await read(ask);
      const made = await renewRecoveryCodes(ask.services, ask.user, ask.origin, given());
      return jsonReply({ recovery_codes: made });
    },
    {
      checks: own,
      describes: takes(
        'Make new recovery codes',
        Type.Object({ password }),
        addedModel,
        [400, 403, 429],
      ),
    },
  )
  .post(
    '/factors/:id/remove',
    async ({ ask }) => {
      const { password: given } = await read(ask);
      await removeFactor(ask.services, ask.user, ask.origin, ask.intParameter('id'), given());
      return emptyReply();
    },
    {
      checks: own,
      describes: takes(
        'Remove a second factor',
        Type.Object({ password }),
        null,
        [400, 403, 404, 409, 429],
      ),
    },
  )
  .post('/second/options', ({ ask }) => options(ask, ask.cookie('svc_second')), {
    checks: open,
    describes: takes(
      'Begin to prove yourself with a passkey after your password',
      Type.Object({}),
      optionsModel,
      [400],
    ),
  })
  .post('/passkey/options', ({ ask }) => options(ask, null), {
    checks: open,
    describes: takes('Begin to sign in with a passkey', Type.Object({}), optionsModel, [400]),
  })
  .post(
    '/passkey',
    async ({ ask }) => {
      const { credential: given } = await read(ask);
      const answer = { credential: given, site: siteIn(ask) };
      return signedIn(ask, await signInWithPasskey(ask.services, browserOf(ask), answer), null);
    },
    {
      checks: open,
      describes: takes(
        'Sign in with a passkey',
        Type.Object({ credential }),
        messageModel,
        [400, 401, 403, 429],
      ),
    },
  );

async function options(ask: Context, begun: string | null): Promise<Reply> {
  return jsonReply(await passkeyOptions(ask.services, siteIn(ask), begun));
}

/** After the password: with a code (a form, or JSON) or with a passkey (JSON). Throws as `finishSignIn`. */
export async function finishSecond(ask: Context): Promise<Reply> {
  const begun = ask.cookie('svc_second');
  if (begun === null) {
    const headers = { 'WWW-Authenticate': 'Bearer realm="svc"' };
    throw new AppError('not-authenticated', 'Not authenticated', { headers });
  }
  const { code, credential: given, next } = await read(ask);
  const answer = given === undefined ? { code: code() } : { credential: given, site: siteIn(ask) };
  const started = await finishSignIn(ask.services, browserOf(ask), begun, answer);
  ask.setCookie('svc_second', null);
  return signedIn(ask, started, given === undefined ? safeNext(next) : null);
}

export function siteIn(ask: Context): Site | null {
  return siteOf(ask.baseUrl, ask.ownOrigins);
}

async function read(ask: Context) {
  const input = new Input(await ask.formOrJson());
  const text = (name: string) => (): string => {
    const value = input.text(name);
    input.finish();
    return value;
  };
  return {
    password: text('password'),
    code: text('code'),
    name: input.optionalText('name') ?? '',
    next: input.optionalText('next'),
    credential: input.raw('credential'),
  };
}
