import { Elysia } from 'elysia';
import { TimeZone } from '../../base/time-zone.ts';
import { parseTime, timeText } from '../../events/event-time.ts';
import { isInterval } from '../../events/read/histogram.ts';
import type { Selection } from '../../events/read/selection.ts';
import type { FieldErrors } from '../../events/intake/validation.ts';
import { requireEventRight } from '../../operations/events/event-access.ts';
import {
  countEvents,
  describeFields,
  faultOfQuery,
  filterQuery,
} from '../../operations/events/events.ts';
import { openTail } from '../../operations/events/tails.ts';
import { microsOf, searchTime } from '../../language/expressions/time.ts';
import { inZone } from '../../language/expressions/zone.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import type { Context } from '../../http/context.ts';
import {
  fieldParameters,
  fieldSummaryModel,
  histogramModel,
  histogramParameters,
  tailParameters,
} from './models.ts';
import { FILTER_PARAMETERS, ignoredHeader, nulReply, readSelection, readWhole } from './query.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { bodyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { EVENT_ROUTE, requireReadableFormat } from './events.ts';

const EVENT_STREAM = 'text/event-stream';

export const eventViewRoutes = new Elysia({ name: 'event-views', prefix: '/api/events' })
  .use(lifecycle)
  .guard({
    checks: {
      ...EVENT_ROUTE,
      isListedFor: ({ usesEvents }) => usesEvents,
    },
  })
  .get('/tail', ({ ask }) => tail(ask), {
    describes: {
      summary: 'Follow new events',
      tag: 'events',
      parameters: tailParameters,
      answers: {
        200: { description: 'Server-sent events', mediaType: 'text/event-stream', schema: null },
      },
      errors: [400, 403, 429],
    },
  })
  .get('/histogram', ({ ask }) => histogram(ask), {
    describes: {
      summary: 'Count events over time',
      tag: 'events',
      parameters: histogramParameters,
      answers: { 200: { description: 'Buckets of the event time', schema: histogramModel } },
      errors: [400, 403, 429, 503],
    },
  })
  .get('/fields', ({ ask }) => fields(ask), {
    describes: {
      summary: 'Describe the fields of events',
      tag: 'events',
      parameters: fieldParameters,
      answers: { 200: { description: 'By how often they occur', schema: fieldSummaryModel } },
      errors: [400, 403, 429, 503],
    },
  });

async function histogram(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireReadableFormat(context, 'application/json');
  const errors: FieldErrors = {};
  const { selection, timezone } = readBoundedSelection(context, errors);
  const interval = context.queryValue('interval') || 'auto';
  if (!isInterval(interval))
    errors['interval'] = ['Enter a number of s, m, h, d, w or mon, or auto.'];
  const limit = readWhole(context, 'limit', { min: 1, max: 50, otherwise: 10 }, errors) ?? 10;
  const by = context.queryValue('by') || null;
  const isWrong = Object.keys(errors).length > 0;
  const counted = await countEvents(services, user, origin, {
    selection,
    interval: isWrong ? 'auto' : interval,
    timezone,
    by,
    limit,
    query: isWrong ? null : context.queryValue('query'),
    signal: request.signal,
  });
  const wrong = nulReply(context);
  if (wrong !== null) return wrong;
  if (isWrong) return jsonReply(errors, { status: 400 });
  if ('fault' in counted) return jsonReply(counted.fault, { status: 400 });
  if ('tooMany' in counted) {
    const text = `Too many buckets (${counted.tooMany}, maximum 2000).`;
    return jsonReply({ interval: [text] }, { status: 400 });
  }
  const known = [...SELECTION_PARAMETERS, 'interval', 'by', 'limit'];
  return jsonReply(counted, { headers: ignoredHeader(context, known) });
}

async function fields(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireReadableFormat(context, 'application/json');
  const errors: FieldErrors = {};
  const { selection, timezone } = readBoundedSelection(context, errors);
  const top = readWhole(context, 'top', { min: 1, max: 100, otherwise: 10 }, errors) ?? 1;
  const sample =
    readWhole(context, 'sample', { min: 1, max: 100_000, otherwise: 10_000 }, errors) ?? 1;
  const isWrong = Object.keys(errors).length > 0;
  const summary = await describeFields(services, user, origin, {
    selection,
    timezone,
    top,
    sample,
    query: isWrong ? null : context.queryValue('query'),
    signal: request.signal,
  });
  const wrong = nulReply(context);
  if (wrong !== null) return wrong;
  if (isWrong) return jsonReply(errors, { status: 400 });
  if ('fault' in summary) return jsonReply(summary.fault, { status: 400 });
  const known = [...SELECTION_PARAMETERS, 'top', 'sample'];
  return jsonReply(summary, { headers: ignoredHeader(context, known) });
}

async function tail(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  await requireReadableFormat(context, EVENT_STREAM);
  const errors: FieldErrors = {};
  const selection = readSelection(context, errors);
  const header = request.headers.get('last-event-id');
  const asked = header ?? context.queryValue('last_event_id');
  if (asked !== null && !/^\d{1,15}$/.test(asked))
    errors['last_event_id'] = ['Enter a whole number from 0.'];
  const backlog = readWhole(context, 'backlog', { min: 0, max: 1000, otherwise: 0 }, errors) ?? 0;
  const isWrong = Object.keys(errors).length > 0;
  const wrong = nulReply(context) ?? (isWrong ? jsonReply(errors, { status: 400 }) : null);
  const query = wrong === null ? filterQuery(services, context.queryValue('query')) : null;
  // A missing right is reported before anything about the query.
  if (query !== null) await requireEventRight(services, user, origin, 'read');
  const fault = query === null ? null : await faultOfQuery(services, query);
  if (fault !== null) return jsonReply(fault, { status: 400 });
  const lastId = asked === null || isWrong ? null : Number(asked);
  const body = await openTail(services, user, origin, {
    order: { selection, lastId, backlog, query },
    isRefused: wrong !== null,
    // Checks the credential itself again as well as its rights.
    isAlive: () => isStillAdmitted(context),
  });
  if (body === null) return wrong!;
  const headers = {
    ...ignoredHeader(context, [...FILTER_PARAMETERS, 'query', 'last_event_id', 'backlog']),
    'X-Accel-Buffering': 'no',
  };
  return bodyReply(body, EVENT_STREAM, { headers });
}

const SELECTION_PARAMETERS = [...FILTER_PARAMETERS, 'query', 'earliest', 'latest', 'timezone'];

function readBoundedSelection(
  context: Context,
  errors: FieldErrors,
): { selection: Selection; timezone: string } {
  const selection = readSelection(context, errors);
  const asked = context.queryValue('timezone') || 'UTC';
  const timezone = TimeZone.named(asked) === null ? 'UTC' : asked;
  if (timezone !== asked)
    errors['timezone'] = ['Enter UTC, an offset such as +02:00, or a name such as Europe/Vienna.'];
  const bound = (name: 'earliest' | 'latest'): number | null => {
    const text = context.queryValue(name);
    if (text === null || text.trim() === '') return null;
    const now = timeText(context.services.clock.now() * 1000);
    const time = inZone(timezone, () => searchTime(text.trim(), now));
    const inUtc = timezone === 'UTC' ? parseTime(text) : null;
    const micros = inUtc ?? (time === null ? null : microsOf(time));
    if (micros === null) errors[name] = ['Enter a valid date/time.'];
    return micros;
  };
  const [earliest, latest] = [bound('earliest'), bound('latest')];
  return { selection: { ...selection, earliest, latest }, timezone };
}
