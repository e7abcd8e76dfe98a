import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { refusalOf } from '../../accounts/identity/refusal.ts';
import { AppError } from '../../base/errors.ts';
import type { HecCode } from '../../events/intake/dialects/hec.ts';
import { channelKey, HEC_TEXTS, isChannel } from '../../events/intake/dialects/hec.ts';
import { requireEventRight } from '../../operations/events/event-access.ts';
import { acknowledgedOf, isAcceptingEvents } from '../../operations/events/events.ts';
import type { Context } from '../../http/context.ts';
import type { DialectAdapter } from './dialect.ts';
import { accepts, DIALECT_RULES, dialectRoute } from './dialect.ts';
import { eventJsonBody } from './body.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';

const CHANNEL_HEADER = 'x-splunk-request-channel';
const MAX_ASKED_IDS = 100_000;
const answerModel = Type.Object(
  { text: Type.String(), code: Type.Integer() },
  { $id: 'HecAnswer', additionalProperties: true },
);
const FAILURE_BODIES = [{ schema: answerModel }];
const answers = { 200: { description: 'All events are stored', schema: answerModel } };

const events = adapterFor('event');
const lines = adapterFor('raw');
const queryToken = (context: Context): string | null =>
  context.services.config.events.hec_query_token ? context.queryValue('token') : null;
const failures = { answersFailure: hecFailure, describesFailure: () => FAILURE_BODIES };
const eventRoute = dialectRoute(
  events,
  {
    summary: 'Send events as a Splunk client',
    tag: 'events',
    body: { schema: Type.Any() },
    answers,
  },
  { queryToken },
);
const rawRoute = dialectRoute(
  lines,
  {
    summary: 'Send lines as a Splunk client',
    tag: 'events',
    body: { mediaType: 'text/plain', schema: null },
    answers,
  },
  { queryToken },
);
const ackRoute = {
  checks: { ...DIALECT_RULES, ...failures, queryToken },
  describes: {
    summary: 'Ask which requests of a channel are stored',
    tag: 'events',
    body: { schema: Type.Object({ acks: Type.Array(Type.Integer()) }) },
    answers: {
      200: {
        description: 'True for those that are',
        schema: Type.Object({ acks: Type.Record(Type.String(), Type.Boolean()) }),
      },
    },
    errors: [400, 413, 415, 503],
  },
} as const;
const healthRoute = {
  checks: {
    access: 'public',
    ignoresCredentials: true,
    leavesOtherMethods: true,
    isExemptFromReadOnly: true,
    ...failures,
  },
  describes: {
    summary: 'Say whether events are taken',
    tag: 'events',
    answers: { 200: { description: 'They are', schema: answerModel } },
    errors: [503],
  },
} as const;

export const hecRoutes = new Elysia({ name: 'hec', prefix: '/services/collector' })
  .use(lifecycle)
  .post('', accepts(events), { ...eventRoute })
  .post('/1.0', accepts(events), { ...eventRoute })
  .post('/event', accepts(events), { ...eventRoute })
  .post('/event/1.0', accepts(events), { ...eventRoute })
  .post('/raw', accepts(lines), { ...rawRoute })
  .post('/raw/1.0', accepts(lines), { ...rawRoute });
for (const version of ['', '/1.0']) {
  hecRoutes
    .post(`/ack${version}`, ({ ask }) => acknowledge(ask), { ...ackRoute })
    .get(`/health${version}`, ({ ask }) => health(ask), { ...healthRoute })
    .post(`/health${version}`, ({ ask }) => health(ask), { ...healthRoute });
}

function adapterFor(mode: string): DialectAdapter {
  return {
    dialect: 'hec',
    mode: () => mode,
    mark: mode === 'raw' ? '\n' : '"event"',
    failure: hecFailure,
    failureBodies: FAILURE_BODIES,
    headers: [CHANNEL_HEADER],
  };
}

function health({ services }: Context): Reply {
  return isAcceptingEvents(services)
    ? hecReply(200, 17)
    : hecReply(503, 18, { 'Retry-After': '5' });
}

async function acknowledge(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireEventRight(services, user, origin, 'write');
  const channel = request.headers.get(CHANNEL_HEADER) ?? context.queryValue('channel') ?? '';
  if (channel === '') return hecReply(400, 10);
  if (!isChannel(channel)) return hecReply(400, 11);
  const ids = idsIn(await eventJsonBody(context));
  if (ids === null) return hecReply(400, 6);
  const acks = await acknowledgedOf(services, user, origin, { channel: channelKey(channel), ids });
  return jsonReply({ acks });
}

/** Null for a body of another shape. */
function idsIn(body: unknown): number[] | null {
  if (typeof body !== 'object' || body === null || !('acks' in body)) return null;
  const { acks } = body;
  if (!Array.isArray(acks) || acks.length > MAX_ASKED_IDS) return null;
  return acks.every((ack) => Number.isSafeInteger(ack)) ? (acks as number[]) : null;
}

function hecReply(
  status: number,
  code: HecCode,
  headers: Readonly<Record<string, string>> = {},
  text: string = HEC_TEXTS[code],
): Reply {
  return jsonReply({ text, code }, { status, headers });
}

function hecFailure(failure: AppError): Reply {
  const { status, headers, message } = failure;
  switch (status) {
    case 401: {
      const [own, code] = credentialFault(failure);
      return hecReply(own, code, headers);
    }
    case 403:
      return hecReply(403, 4, headers);
    case 413:
      return hecReply(413, 27, headers);
    case 429:
      return hecReply(429, 9, headers);
    case 503:
      return hecReply(503, message === HEC_TEXTS[23] + '.' ? 23 : 9, headers);
    case 500:
      return hecReply(500, 8, headers);
    case 405:
      return hecReply(405, 9, headers, message);
    default:
      if (message === HEC_TEXTS[14]) return hecReply(status, 14, headers);
      return hecReply(status, 6, headers, failure.issues?.[0]?.msg ?? message);
  }
}

function credentialFault(failure: AppError): [number, HecCode] {
  switch (refusalOf(failure)?.reason) {
    case undefined:
      return [401, 2];
    case 'empty':
    case 'spaces':
    case 'encoding':
    case 'unknown-scheme':
      return [401, 3];
    case 'revoked':
    case 'inactive-user':
      return [403, 1];
    default:
      return [403, 4];
  }
}
