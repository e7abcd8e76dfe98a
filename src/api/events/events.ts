import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { eventJson } from '../../events/event.ts';
import { LIST_HEADERS } from '../../events/read/read-jobs.ts';
import { ALL_EVENTS } from '../../events/read/selection.ts';
import { AppError } from '../../base/errors.ts';
import { requireEventRight } from '../../operations/events/event-access.ts';
import type { WriterReply } from '../../operations/events/events.ts';
import {
  admitIntake,
  deleteEvent,
  getEvent,
  ingestEvents,
  listEvents,
  queuePlace,
  updateEvent,
} from '../../operations/events/events.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { idempotencyKey } from '../../http/hooks/idempotency.ts';
import { eventBody } from './body.ts';
import { eventErrorReply } from '../../http/reply/errors.ts';
import {
  eventChangeModel,
  eventFailureBodies,
  eventLinesModel,
  eventModel,
  listParameters,
  newEventModel,
} from './models.ts';
import { ignoredHeader, LIST_PARAMETERS, readListQuery } from './query.ts';
import { acceptsSome, preferredType } from '../../http/reply/negotiate.ts';
import { nextLink } from '../../http/link-query.ts';
import { readOnlyMode } from '../../http/route.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { bodyReply, emptyReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { whileAllowed } from '../../http/reply/outgoing-stream.ts';
import { noteUnknownSender } from './dialect.ts';
import type { Viewer } from '../../http/operation-description.ts';

const TYPES = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
} as const;
type Format = keyof typeof TYPES;
/** Past it the caller's rights are checked while it is sent. */
const LONG_ANSWER_EVENTS = 1_000;
const OFFERED: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'text/csv': 'csv',
};

export const EVENT_ROUTE = {
  access: 'user',
  hasJsonErrors: true,
  answersFailure: eventErrorReply,
  describesFailure: eventFailureBodies,
  // Rights on events are checked first, by the operations; `requireChangeable` then refuses in read-only mode.
  isExemptFromReadOnly: true,
} as const;

const usesEvents = ({ usesEvents }: Viewer): boolean => usesEvents;
const checks = {
  ...EVENT_ROUTE,
  endsInSlash: true,
  isListedFor: usesEvents,
  hasNumbers: true,
} as const satisfies RouteRules;
const listChecks = {
  ...EVENT_ROUTE,
  endsInSlash: true,
  takesEventsBy: ['POST'],
  isListedFor: usesEvents,
  beforeMethodRefusal: async ({ services, user, origin }: Context): Promise<void> => {
    await requireEventRight(services, user, origin, 'write');
  },
  onRefused: noteUnknownSender,
} as const satisfies RouteRules;

export const eventRoutes = new Elysia({ name: 'events', prefix: '/api/events' })
  .use(lifecycle)
  .get('', ({ ask }) => list(ask), {
    checks: listChecks,
    describes: {
      summary: 'List events',
      tag: 'events',
      parameters: listParameters,
      answers: { 200: { description: 'By ascending id', schema: Type.Array(eventModel) } },
      errors: [400, 403, 503],
    },
  })
  .post('', ({ ask }) => create(ask), {
    checks: listChecks,
    describes: {
      summary: 'Create one or more events',
      tag: 'events',
      body: [
        { schema: Type.Union([newEventModel, Type.Array(newEventModel)]) },
        { mediaType: 'application/x-ndjson', schema: null },
      ],
      answers: {
        201: {
          description: 'The event, the events in the order of the body, or what came of the lines',
          schema: Type.Union([eventModel, Type.Array(eventModel), eventLinesModel]),
        },
      },
      errors: [400, 413, 415, 422, 429, 503],
    },
  })
  .get('/:id', ({ ask }) => read(ask), {
    checks,
    describes: {
      summary: 'Read an event',
      tag: 'events',
      answers: { 200: { description: 'The event', schema: eventModel } },
      errors: [403, 404],
    },
  })
  .put('/:id', ({ ask }) => change(ask, false), {
    checks,
    describes: {
      summary: 'Replace an event',
      tag: 'events',
      body: { schema: newEventModel },
      answers: { 200: { description: 'The event', schema: eventModel } },
      errors: [400, 404, 412, 413, 415, 503],
    },
  })
  .patch('/:id', ({ ask }) => change(ask, true), {
    checks,
    describes: {
      summary: 'Change parts of an event',
      tag: 'events',
      body: { schema: eventChangeModel },
      answers: { 200: { description: 'The event', schema: eventModel } },
      errors: [400, 404, 412, 413, 415, 503],
    },
  })
  .delete('/:id', ({ ask }) => remove(ask), {
    checks,
    describes: {
      summary: 'Delete an event',
      tag: 'events',
      answers: { 204: { description: 'It is gone', schema: null } },
      errors: [404, 412, 503],
    },
  });

async function list(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  const format = await afterRight(context, () => formatOf(context));
  const query = readListQuery(context);
  if ('reply' in query) {
    // A missing right to read is reported before anything else.
    await listEvents(services, user, origin, { order: NOTHING, signal: request.signal }).then(
      ({ answer }) => answer.body?.cancel(),
    );
    return query.reply;
  }
  const { cursorAfter, ...order } = query.value;
  const isLong = order.limit === null || order.limit > LONG_ANSWER_EVENTS;
  const { answer, mayStillRead } = await listEvents(services, user, origin, {
    order: { ...order, format },
    isLong,
    signal: request.signal,
  });
  const next = answer.headers.get(LIST_HEADERS.next);
  const total = answer.headers.get(LIST_HEADERS.total);
  const incomplete = answer.headers.get(LIST_HEADERS.incomplete);
  const headers = {
    ...ignoredHeader(context, LIST_PARAMETERS),
    ...nextLink(context, next === null ? null : cursorAfter(Number(next))),
    ...(total !== null && { 'X-Total-Count': total }),
    ...(incomplete !== null && { 'X-Incomplete': incomplete }),
  };
  const body = answer.body as ReadableStream<Uint8Array>;
  const isAllowed = async (): Promise<boolean> =>
    (await isStillAdmitted(context)) && (await mayStillRead());
  return bodyReply(isLong ? whileAllowed(body, isAllowed) : body, TYPES[format], { headers });
}

const NOTHING = {
  selection: ALL_EVENTS,
  isDescending: false,
  limit: 1,
  offset: 0,
  afterId: Number.MAX_SAFE_INTEGER,
  counts: false,
  format: 'json',
} as const;

function formatOf(context: Context): Format {
  const asked = context.queryValue('format');
  if (asked !== null && asked !== '') {
    if (Object.hasOwn(TYPES, asked)) return asked as Format;
    throw new AppError('not-found', 'Not found.');
  }
  requireAccepted(context, Object.keys(OFFERED));
  return (
    OFFERED[preferredType(context.request.headers.get('accept'), Object.keys(OFFERED)) ?? ''] ??
    'json'
  );
}

async function create(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await admitIntake(services, user, origin, 'rest');
  requireChangeable(context);
  requireFormat(context);
  const key = idempotencyKey(request.headers);
  using place = queuePlace(services, user);
  const body = await eventBody(context, { takesLines: true, place });
  const written = await ingestEvents(services, user, origin, {
    dialect: 'rest',
    mode: body.form === 'fields' ? 'form' : body.form,
    mediaType: context.body.mediaType,
    parameters: Object.fromEntries(context.query),
    headers: {},
    body: body.pieces,
    place,
    events: body.events,
    isDryRun: context.queryValue('dry_run') === '1',
    isMinimal: /(?:^|,)\s*return\s*=\s*"?minimal"?/i.test(request.headers.get('prefer') ?? ''),
    idempotency: key === null ? null : { route: 'POST /api/events/', key },
  });
  return writtenReply(written);
}

async function read(context: Context): Promise<Reply> {
  const { services, user, origin } = context;
  await requireReadableFormat(context, TYPES.json);
  const event = await getEvent(services, user, origin, context.idParameter());
  return bodyReply(eventJson(event), TYPES.json, { etag: `${event.id}.${event.updated}` });
}

async function change(context: Context, isPartial: boolean): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireEventRight(services, user, origin, 'write');
  requireChangeable(context);
  requireFormat(context);
  using place = queuePlace(services, user);
  const body = await eventBody(context, { takesLines: false, place });
  const written = await updateEvent(services, user, origin, {
    id: context.idParameter(),
    isPartial,
    isForm: body.form === 'fields',
    ifMatch: request.headers.get('if-match'),
    body: body.pieces,
    place,
  });
  return writtenReply(written);
}

async function remove(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireEventRight(services, user, origin, 'write');
  requireChangeable(context);
  requireFormat(context);
  const id = context.idParameter();
  const ifMatch = request.headers.get('if-match');
  return writtenReply(await deleteEvent(services, user, origin, { id, ifMatch }));
}

function writtenReply({ status, headers, body }: WriterReply): Reply {
  if (body === null) return emptyReply(status, headers);
  return { status, headers, body };
}

/** 405 in read-only mode; call it after the check of rights. */
export function requireChangeable(context: Context): void {
  if (context.services.config.readonly) throw readOnlyMode();
}

/** For a route with one format. Throws `not-found` for another `?format=`, `not-acceptable` for another `Accept`. */
export function requireFormat(context: Context, type: string = TYPES.json): void {
  const asked = context.queryValue('format');
  if (asked === null || asked === '') requireAccepted(context, [type]);
  else if (asked !== 'json' || type !== TYPES.json) throw new AppError('not-found', 'Not found.');
}

/** As `requireFormat`; a missing right to read is reported first. */
export async function requireReadableFormat(context: Context, type: string): Promise<void> {
  await afterRight(context, () => requireFormat(context, type));
}

/** Runs `look`; when it throws, a missing right to read is reported instead of its error. */
async function afterRight<Value>(context: Context, look: () => Value): Promise<Value> {
  try {
    return look();
  } catch (error) {
    await requireEventRight(context.services, context.user, context.origin, 'read');
    throw error;
  }
}

/** Throws `not-acceptable` when `Accept` names only other types. */
export function requireAccepted({ request }: Context, types: readonly string[]): void {
  if (acceptsSome(request.headers.get('accept'), types)) return;
  throw new AppError('not-acceptable', 'Could not satisfy the request Accept header.');
}
