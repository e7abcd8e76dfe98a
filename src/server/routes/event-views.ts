/**
 * Many events at once: live tail, counts over time, fields (EV-77 to EV-82).
 */
import { parseTime } from '../../events/event-time.ts';
import { isInterval } from '../../events/histogram.ts';
import type { Selection } from '../../events/selection.ts';
import type { FieldErrors } from '../../events/validation.ts';
import { countEvents, describeFields } from '../../operations/events.ts';
import { openTail } from '../../operations/event-tails.ts';
import { isStillAdmitted } from '../admission.ts';
import type { Context } from '../context.ts';
import {
  fieldParameters,
  fieldSummaryModel,
  histogramModel,
  histogramParameters,
  tailParameters,
} from '../event-models.ts';
import {
  FILTER_PARAMETERS,
  ignoredHeader,
  nulReply,
  readSelection,
  readWhole,
} from '../event-query.ts';
import type { Reply } from '../reply.ts';
import { bodyReply, jsonReply } from '../reply.ts';
import type { Route } from '../route-table.ts';
import { EVENT_ROUTE, requireFormat } from './events.ts';

/** `/api/events/tail`, `/histogram`, `/fields`. */
export const eventViewRoutes: readonly Route[] = [
  {
    ...EVENT_ROUTE,
    pattern: '/api/events/tail',
    describes: {
      GET: {
        summary: 'Follow new events',
        tag: 'events',
        parameters: tailParameters,
        answers: {
          200: { description: 'Server-sent events', mediaType: 'text/event-stream', schema: null },
        },
        errors: [400, 429],
      },
    },
    methods: { GET: tail },
  },
  {
    ...EVENT_ROUTE,
    pattern: '/api/events/histogram',
    describes: {
      GET: {
        summary: 'Count events over time',
        tag: 'events',
        parameters: histogramParameters,
        answers: { 200: { description: 'Buckets of the event time', schema: histogramModel } },
        errors: [400, 503],
      },
    },
    methods: { GET: histogram },
  },
  {
    ...EVENT_ROUTE,
    pattern: '/api/events/fields',
    describes: {
      GET: {
        summary: 'Describe the fields of events',
        tag: 'events',
        parameters: fieldParameters,
        answers: { 200: { description: 'By how often they occur', schema: fieldSummaryModel } },
        errors: [400, 503],
      },
    },
    methods: { GET: fields },
  },
];

async function histogram(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  requireFormat(context);
  const errors: FieldErrors = {};
  const selection = readBoundedSelection(context, errors);
  const interval = context.queryValue('interval') || 'auto';
  if (!isInterval(interval))
    errors['interval'] = ['Enter a number of s, m, h, d, w or mon, or auto.'];
  const limit = readWhole(context, 'limit', { min: 1, max: 50, otherwise: 10 }, errors) ?? 10;
  const by = context.queryValue('by') || null;
  const isWrong = Object.keys(errors).length > 0;
  const counted = await countEvents(services, user, origin, {
    selection,
    interval: isWrong ? 'auto' : interval,
    by,
    limit,
    signal: request.signal,
  });
  const wrong = nulReply(context) ?? queryReply(context);
  if (wrong !== null) return wrong;
  if (isWrong) return jsonReply(errors, { status: 400 });
  if ('tooMany' in counted) {
    const text = `Too many buckets (${counted.tooMany}, maximum 2000).`;
    return jsonReply({ interval: [text] }, { status: 400 });
  }
  const known = [...FILTER_PARAMETERS, 'query', 'interval', 'by', 'limit', 'earliest', 'latest'];
  return jsonReply(counted, { headers: ignoredHeader(context, known) });
}

async function fields(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  requireFormat(context);
  const errors: FieldErrors = {};
  const selection = readBoundedSelection(context, errors);
  const top = readWhole(context, 'top', { min: 1, max: 100, otherwise: 10 }, errors) ?? 1;
  const sample =
    readWhole(context, 'sample', { min: 1, max: 100_000, otherwise: 10_000 }, errors) ?? 1;
  const summary = await describeFields(services, user, origin, {
    selection,
    top,
    sample,
    signal: request.signal,
  });
  const wrong = nulReply(context) ?? queryReply(context);
  if (wrong !== null) return wrong;
  if (Object.keys(errors).length > 0) return jsonReply(errors, { status: 400 });
  const known = [...FILTER_PARAMETERS, 'query', 'earliest', 'latest', 'top', 'sample'];
  return jsonReply(summary, { headers: ignoredHeader(context, known) });
}

async function tail(context: Context): Promise<Reply> {
  const { services, user, origin, request } = context;
  const errors: FieldErrors = {};
  const selection = readSelection(context, errors);
  const header = request.headers.get('last-event-id');
  const asked = header ?? context.queryValue('last_event_id');
  if (asked !== null && !/^\d{1,15}$/.test(asked))
    errors['last_event_id'] = ['Enter a whole number from 0.'];
  const backlog = readWhole(context, 'backlog', { min: 0, max: 1000, otherwise: 0 }, errors) ?? 0;
  const isWrong = Object.keys(errors).length > 0;
  const wrong =
    nulReply(context) ??
    queryReply(context) ??
    (isWrong ? jsonReply(errors, { status: 400 }) : null);
  const body = await openTail(services, user, origin, {
    order: { selection, lastId: asked === null || isWrong ? null : Number(asked), backlog },
    isRefused: wrong !== null,
    // The credential itself is looked at again as well as the rights it has.
    isAlive: () => isStillAdmitted(context),
  });
  if (body === null) return wrong!;
  const headers = {
    ...ignoredHeader(context, [...FILTER_PARAMETERS, 'query', 'last_event_id', 'backlog']),
    'X-Accel-Buffering': 'no',
  };
  return bodyReply(body, 'text/event-stream', { headers });
}

/** A pipeline in `query` needs the search language; until it is there, nothing is silently ignored. */
function queryReply(context: Context): Reply | null {
  const query = context.queryValue('query');
  if (query === null || query.trim() === '') return null;
  return jsonReply({ error: 'query is not supported here yet' }, { status: 400 });
}

function readBoundedSelection(context: Context, errors: FieldErrors): Selection {
  const selection = readSelection(context, errors);
  const bound = (name: 'earliest' | 'latest'): number | null => {
    const text = context.queryValue(name);
    if (text === null || text.trim() === '') return null;
    const micros = parseTime(text) ?? epochMicros(text);
    if (micros === null) errors[name] = ['Enter a valid date/time.'];
    return micros;
  };
  return { ...selection, earliest: bound('earliest'), latest: bound('latest') };
}

/** Epoch seconds and offsets from now (SL-62), without snapping. */
function epochMicros(text: string): number | null {
  if (/^\d{1,12}(?:\.\d+)?$/.test(text.trim())) return Math.floor(Number(text) * 1e6);
  if (text.trim() === 'now') return Date.now() * 1000;
  const match = /^([+-]\d{1,6})(s|m|h|d|w)$/.exec(text.trim());
  if (match === null) return null;
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[match[2] as 's']!;
  return (Date.now() + Number(match[1]) * seconds * 1000) * 1000;
}
