import { type TSchema, Type } from '@sinclair/typebox';
import type { FailureBodies, ParameterDescription } from '../../http/operation-description.ts';

const dateTime = Type.String({ format: 'date-time' });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const text = Type.String({ maxLength: 255 });

export const eventModel = Type.Object(
  {
    id: Type.Integer(),
    index: text,
    sourcetype: text,
    source: text,
    host: text,
    data: Type.String(),
    created: dateTime,
    updated: dateTime,
    extracted_fields: Type.Any(),
  },
  { $id: 'Event' },
);

export const newEventModel = Type.Object(
  {
    data: Type.String({ minLength: 1 }),
    index: Type.Optional(text),
    sourcetype: Type.Optional(text),
    source: Type.Optional(text),
    host: Type.Optional(text),
    extracted_fields: Type.Optional(Type.Any()),
  },
  { $id: 'NewEvent' },
);

export const eventChangeModel = Type.Partial(newEventModel, { $id: 'EventChange' });

export const eventLinesModel = Type.Object(
  {
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    first_id: nullable(Type.Integer()),
    last_id: nullable(Type.Integer()),
    errors: Type.Array(Type.Object({ line: Type.Integer(), error: Type.Any() })),
    errors_truncated: Type.Boolean(),
  },
  { $id: 'EventLines' },
);

const fieldErrorsModel = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'FieldErrors',
  description: 'Each field at fault with what is wrong with it, or `detail` alone',
});

/** For refused data; other failures are those of every route. */
export const eventFailureBodies: FailureBodies = (status) =>
  status === 400
    ? [{ schema: Type.Union([fieldErrorsModel, Type.Array(fieldErrorsModel)]) }]
    : null;

/** Sealed events that cannot be read. */
const incomplete = Type.Optional(
  Type.Array(
    Type.Object({
      part: Type.String(),
      events: Type.Integer(),
      from: dateTime,
      to: dateTime,
      reason: Type.String(),
    }),
  ),
);

export const histogramModel = Type.Object(
  {
    interval: Type.String(),
    from: nullable(dateTime),
    to: nullable(dateTime),
    buckets: Type.Array(
      Type.Object({
        t: dateTime,
        count: Type.Integer(),
        series: Type.Optional(Type.Record(Type.String(), Type.Integer())),
      }),
    ),
    total: Type.Integer(),
    series: Type.Optional(Type.Array(Type.String())),
    truncated: Type.Boolean(),
    incomplete,
    elapsed_ms: Type.Integer(),
  },
  { $id: 'EventHistogram' },
);

export const fieldSummaryModel = Type.Object(
  {
    fields: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        count: Type.Integer(),
        distinct: Type.Integer(),
        distinct_capped: Type.Boolean(),
        top: Type.Array(Type.Object({ value: Type.Any(), count: Type.Integer() })),
      }),
    ),
    sampled: Type.Integer(),
    truncated: Type.Boolean(),
    incomplete,
    elapsed_ms: Type.Integer(),
  },
  { $id: 'EventFields' },
);

export const ingestSettingsModel = Type.Object(
  {
    create_only: Type.Boolean(),
    indexes: nullable(Type.Array(Type.String())),
    index: nullable(text),
    sourcetype: nullable(text),
    source: nullable(text),
    host: nullable(text),
    ack: Type.Boolean(),
    has_alias: Type.Boolean(),
    alias: Type.Optional(Type.String({ description: 'Only in the answer that made it' })),
  },
  { $id: 'IngestSettings' },
);

const query = (
  name: string,
  description: string,
  schema: TSchema = Type.String(),
): ParameterDescription => ({
  name,
  in: 'query',
  description,
  schema,
});

const filterParameters: readonly ParameterDescription[] = [
  query('index', 'Equal to this'),
  query('sourcetype', 'Equal to this'),
  query('source', 'Equal to this'),
  query('host', 'Equal to this'),
  query('created', 'Equal to the microsecond', dateTime),
  query('updated', 'Equal to the microsecond', dateTime),
  query('created_after', 'At or after', dateTime),
  query('created_before', 'Before', dateTime),
  query('search', 'Terms that must all occur somewhere in the event'),
];

export const listParameters: readonly ParameterDescription[] = [
  ...filterParameters,
  query(
    'ordering',
    'id, -id, created or -created',
    Type.Enum({ a: 'id', b: '-id', c: 'created', d: '-created' }),
  ),
  query('limit', 'Most events', Type.Integer({ minimum: 1, maximum: 10_000 })),
  query('offset', 'Events passed over', Type.Integer({ minimum: 0 })),
  query('cursor', 'From a Link header'),
  query('count', '1: adds X-Total-Count'),
  query('format', 'json, ndjson or csv'),
];

const selectionParameters: readonly ParameterDescription[] = [
  ...filterParameters,
  query('query', 'Row-wise search'),
  query('earliest', 'Lower bound of the event time'),
  query('latest', 'Upper bound of the event time, exclusive'),
  query('timezone', 'Zone in which days and longer begin; UTC, an offset or a name'),
];

export const histogramParameters: readonly ParameterDescription[] = [
  ...selectionParameters,
  query('interval', 'Width of a bucket, or auto'),
  query('by', 'Field to split by'),
  query('limit', 'Most series', Type.Integer({ minimum: 1, maximum: 50 })),
];

export const fieldParameters: readonly ParameterDescription[] = [
  ...selectionParameters,
  query('top', 'Values of each field', Type.Integer({ minimum: 1, maximum: 100 })),
  query('sample', 'Newest events looked at', Type.Integer({ minimum: 1, maximum: 100_000 })),
];

export const tailParameters: readonly ParameterDescription[] = [
  ...filterParameters,
  query('query', 'Row-wise search'),
  query('last_event_id', 'Resume behind this event', Type.Integer({ minimum: 0 })),
  query('backlog', 'Earlier events to send first', Type.Integer({ minimum: 0, maximum: 1_000 })),
];
