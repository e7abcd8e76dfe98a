/** Answers without waiting when the state was found sound a moment ago. */
import { Type } from '@sinclair/typebox';
import { timestamp } from '../base/clock.ts';
import type { Context } from '../http/context.ts';
import { jsonError } from '../http/reply/errors.ts';
import type { Reply } from '../http/reply/reply.ts';
import { jsonReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';
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

export const healthRoute: Route = {
  pattern: '/health',
  access: 'public',
  neverRedirects: true,
  comesFirst: true,
  hasJsonErrors: true,
  // Health does not depend on the credentials of the request, so a failure to check them is no failure.
  answersFailure: (failure, context) =>
    failure.status >= 500 ? health(context, false) : jsonError(failure, context.requestId),
  describes: {
    GET: {
      summary: 'Ask whether the server can work',
      tag: 'system',
      answers: {
        200: { description: 'It can', schema: healthModel },
        503: { description: 'Its state database cannot be read and written', schema: healthModel },
      },
    },
  },
  methods: {
    GET: (context) => {
      const isSound = isStateSound(context.services);
      return typeof isSound === 'boolean'
        ? health(context, isSound)
        : isSound.then((sound) => health(context, sound));
    },
  },
};

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
