import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { otlpStatus, PROTOBUF } from '../../events/intake/dialects/otlp.ts';
import type { Context } from '../../http/context.ts';
import { accepts, type DialectAdapter, dialectRoute } from './dialect.ts';
import { type Reply, bodyReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';

/** google.rpc.Code by HTTP status. */
const CODES: Readonly<Record<number, number>> = {
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  429: 8,
  500: 13,
  503: 14,
};
const INVALID_ARGUMENT = 3;

const otlp: DialectAdapter = {
  dialect: 'otlp',
  mode: (context) => (isProtobuf(context) ? 'protobuf' : requireJson(context)),
  // Marks a log record in JSON; records of protobuf cannot be counted this way.
  mark: '"body"',
  failure: otlpFailure,
  failureBodies: [
    { schema: Type.Object({ code: Type.Integer(), message: Type.String() }) },
    { mediaType: PROTOBUF, schema: null },
  ],
};

export const otlpRoute = new Elysia({ name: 'otlp' }).use(lifecycle).post(
  '/v1/logs',
  accepts(otlp),
  dialectRoute(otlp, {
    summary: 'Send events as an OpenTelemetry client',
    tag: 'events',
    body: [{ schema: Type.Any() }, { mediaType: PROTOBUF, schema: null }],
    answers: {
      200: {
        description: 'What is stored, and how many records are not',
        schema: Type.Object({ partialSuccess: Type.Any() }),
      },
    },
  }),
);

/** Also decides the format of the answer. */
function isProtobuf({ body }: Context): boolean {
  return body.mediaType === PROTOBUF;
}

function requireJson({ body }: Context): string {
  const { mediaType } = body;
  if (mediaType === '' || mediaType === 'application/json') return 'json';
  throw new AppError('unsupported-media-type', `Unsupported media type "${mediaType}" in request.`);
}

function otlpFailure({ status, headers, message, issues }: AppError, context: Context): Reply {
  const isBinary = isProtobuf(context);
  const code = CODES[status] ?? INVALID_ARGUMENT;
  const body = otlpStatus(isBinary, code, issues?.[0]?.msg ?? message);
  return bodyReply(body, isBinary ? PROTOBUF : 'application/json', { status, headers });
}

const loki: DialectAdapter = {
  dialect: 'loki',
  mode: modeOf,
  // Marks an entry in JSON; entries of protobuf cannot be counted this way.
  mark: '["',
  failure: lokiFailure,
  failureBodies: [{ mediaType: 'text/plain', schema: null }],
  ownCoding: 'snappy',
};

export const lokiRoute = new Elysia({ name: 'loki' }).use(lifecycle).post(
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
