/** Answers without waiting when the state was found sound a moment ago. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { timestamp } from '../base/clock.ts';
import type { Context } from '../http/context.ts';
import { jsonError } from '../http/reply/errors.ts';
import type { Reply } from '../http/reply/reply.ts';
import { jsonReply } from '../http/reply/reply.ts';
import type { AppError } from '../base/errors.ts';
import { door } from '../http/door.ts';
import { isStateSound } from './state-soundness.ts';

/** Version of the API, not of the program. */
export const API_VERSION = '0.3.0';
const healthModel = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')]),
    version: Type.String({ examples: [API_VERSION] }),
    timestamp: Type.String({ format: 'date-time' }),
    uptime_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
    cache_size: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
    endpoint_count: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { $id: 'Health' },
);

export const healthRoute = new Elysia({ name: 'health' }).use(door).get(
  '/health',
  ({ ask }) => {
    const isSound = isStateSound(ask.services);
    return typeof isSound === 'boolean'
      ? health(ask, isSound)
      : isSound.then((sound) => health(ask, sound));
  },
  {
    checks: {
      access: 'public',
      neverRedirects: true,
      comesFirst: true,
      hasJsonErrors: true,
      // Health does not depend on the credentials of the request, so a failure to check them is no failure.
      answersFailure: (failure: AppError, context: Context) =>
        failure.status >= 500 ? health(context, false) : jsonError(failure, context.requestId),
    },
    describes: {
      summary: 'Ask whether the server can work',
      tag: 'system',
      answers: {
        200: { description: 'It can', schema: healthModel },
        503: { description: 'Its state database cannot be read and written', schema: healthModel },
      },
    },
  },
);

function health(context: Context, isSound: boolean): Reply {
  const { services, caller } = context;
  const { clock } = services;
  const common = {
    status: isSound ? 'ok' : 'degraded',
    version: API_VERSION,
    timestamp: timestamp(clock.now()),
  };
  const status = isSound ? 200 : 503;
  if (caller === null) return jsonReply(common, { status });
  const known = {
    uptime_seconds: Math.floor((clock.monotonic() - services.startedAt) / 1000),
    cache_size: services.cacheSize(),
    endpoint_count: services.endpointCount(),
  };
  return jsonReply({ ...common, ...known }, { status });
}
