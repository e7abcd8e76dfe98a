import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { AppError } from '../base/errors.ts';
import { PROTOBUF } from '../events/intake/dialects/otlp.ts';
import type { Context } from '../http/context.ts';
import { accepts, type DialectDoor, dialectRoute } from './dialect-route.ts';
import type { Reply } from '../http/reply/reply.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { door } from '../http/door.ts';

const loki: DialectDoor = {
  dialect: 'loki',
  mode: modeOf,
  // Marks an entry in JSON; entries of protobuf cannot be counted this way.
  mark: '["',
  failure: lokiFailure,
  failureBodies: [{ mediaType: 'text/plain', schema: null }],
  ownCoding: 'snappy',
};

export const lokiRoute = new Elysia({ name: 'loki' }).use(door).post(
  '/loki/api/v1/push',
  accepts(loki),
  dialectRoute(loki, {
    summary: 'Send events as a Loki client',
    tag: 'events',
    body: [{ schema: Type.Any() }, { mediaType: PROTOBUF, schema: null }],
    answers: { 204: { description: 'All entries are stored', schema: null } },
  }),
);

function modeOf({ body, request }: Context): string {
  const { mediaType } = body;
  if (mediaType === PROTOBUF) return 'protobuf';
  const isSnappy = request.headers.get('content-encoding')?.trim().toLowerCase() === 'snappy';
  if (!isSnappy && (mediaType === '' || mediaType === 'application/json')) return 'json';
  const what = isSnappy ? 'snappy' : mediaType;
  throw new AppError('unsupported-media-type', `Unsupported media type "${what}" in request.`);
}

function lokiFailure({ status, headers, message, issues }: AppError): Reply {
  const text = `${issues?.[0]?.msg ?? message}\n`;
  return bodyReply(text, 'text/plain; charset=utf-8', { status, headers });
}
