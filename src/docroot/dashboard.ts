/**
 * What a dashboard file holds: the one schema that its reader, the API and the OpenAPI document share. Members are
 * checked with their lines by plugins/dashboard.
 */
import { type Static, Type } from '@sinclair/typebox';

/** Columns of the grid that a panel's width counts. */
const GRID_COLUMNS = 12;
export const MAX_PANELS = 60;
const MAX_ROWS = 40;
const MAX_VARIABLES = 20;
const MAX_TEXT = 64 * 1024;
const MAX_NAME = 200;

export const REFRESHES = ['off', '10s', '30s', '1m', '5m', '15m', '30m', '1h'] as const;
export const FORMS = [
  'single',
  'line',
  'area',
  'stacked-area',
  'bar',
  'stacked-bar',
  'pie',
  'heat-map',
  'table',
  'events',
  'text',
] as const;
/** The palette of charts, and words for what a value means. */
export const COLORS = [
  'green',
  'blue',
  'amber',
  'purple',
  'cyan',
  'pink',
  'olive',
  'brown',
  'slate',
  'red',
  'good',
  'info',
  'warn',
  'error',
] as const;

const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    description === undefined ? {} : { description },
  );
const closed = { additionalProperties: false };
const name = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_NAME, description });
const scalar = Type.Union([Type.String({ maxLength: MAX_NAME }), Type.Number(), Type.Boolean()]);
const color = oneOf(COLORS);

const time = Type.Object(
  {
    earliest: Type.Optional(
      Type.String({ maxLength: 64, description: 'Such as -24h or 2026-01-31; empty: all' }),
    ),
    latest: Type.Optional(Type.String({ maxLength: 64, description: 'Empty: now' })),
  },
  closed,
);

const variable = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
      description: 'As {name} in queries; letters, digits and _',
    }),
    label: Type.Optional(name('Shown before its field; its name unless given')),
    type: oneOf(['text', 'choice', 'time']),
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_TEXT,
        description: 'Of a choice: the values are the first column of its rows',
      }),
    ),
    all: Type.Optional(name('Of a choice: the words for no choice, which gives an empty text')),
    default: Type.Optional(
      Type.Union([scalar, time], { description: 'A text, or of a time its two ends' }),
    ),
  },
  closed,
);

const threshold = Type.Object(
  { from: Type.Number({ description: 'From this value on' }), color },
  closed,
);

const options = Type.Object(
  {
    unit: Type.Optional(Type.String({ maxLength: 32, description: 'Behind numbers' })),
    decimals: Type.Optional(Type.Integer({ minimum: 0, maximum: 12 })),
    colors: Type.Optional(
      Type.Record(Type.String({ maxLength: MAX_NAME }), color, {
        description: 'By value, or by name of a column',
      }),
    ),
    thresholds: Type.Optional(Type.Array(threshold, { maxItems: 20 })),
    log: Type.Optional(Type.Boolean({ description: 'Logarithmic axis' })),
    min: Type.Optional(Type.Number({ description: 'Lower end of the axis' })),
    max: Type.Optional(Type.Number({ description: 'Upper end of the axis' })),
    drilldown: Type.Optional(
      Type.Union([Type.Boolean(), Type.String({ minLength: 1, maxLength: MAX_TEXT })], {
        description:
          'Where a click leads: true, the events or rows of the clicked value; or a query with {value} and {field}',
      }),
    ),
    link: Type.Optional(
      Type.String({
        maxLength: 2048,
        pattern: '^(?:/(?!/)|https?://)',
        description: 'An address of this server, or https://…',
      }),
    ),
  },
  closed,
);

const panel = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: MAX_NAME })),
    query: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'Of the search language' }),
    ),
    savedsearch: Type.Optional(name('Name of a saved search that the reader sees')),
    dataset: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Name of a dataset' }),
    ),
    text: Type.Optional(Type.String({ maxLength: MAX_TEXT, description: 'Markdown' })),
    form: Type.Optional(oneOf(FORMS, 'table unless given, of a text text')),
    width: Type.Optional(
      Type.Integer({ minimum: 1, maximum: GRID_COLUMNS, description: 'Of 12 columns' }),
    ),
    height: Type.Optional(
      Type.Integer({ minimum: 2, maximum: 30, description: 'In steps of 40 pixels' }),
    ),
    time: Type.Optional(
      name('Name of a variable of type time, or none; else that of the whole dashboard'),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Rows' })),
    filter: Type.Optional(
      Type.Record(Type.String({ maxLength: MAX_NAME }), Type.Unknown(), {
        description: 'Of a dataset, as for its rows',
      }),
    ),
    sort: Type.Optional(
      Type.String({ maxLength: 1024, description: 'Of a dataset, such as -price,name' }),
    ),
    columns: Type.Optional(
      Type.Array(name('Name of a column'), { maxItems: 100, description: 'Of a dataset' }),
    ),
    options: Type.Optional(options),
  },
  closed,
);

const row = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: MAX_NAME })),
    panels: Type.Array(panel, { maxItems: MAX_PANELS }),
  },
  closed,
);

export const dashboardSchema = Type.Object(
  {
    title: name('Heading of the page'),
    description: Type.Optional(Type.String({ maxLength: 1000 })),
    time: Type.Optional(time),
    refresh: Type.Optional(oneOf(REFRESHES, 'At first; readers choose another')),
    variables: Type.Optional(Type.Array(variable, { maxItems: MAX_VARIABLES })),
    rows: Type.Array(row, { maxItems: MAX_ROWS }),
  },
  { ...closed, $id: 'Dashboard' },
);

export type Dashboard = Static<typeof dashboardSchema>;
export type DashboardPanel = Static<typeof panel>;
export type DashboardVariable = Static<typeof variable>;
export type DashboardTime = Static<typeof time>;
export type DashboardOptions = Static<typeof options>;
export type PanelForm = (typeof FORMS)[number];

/** RFC 6902, without `copy`. */
export const patchSchema = Type.Array(
  Type.Object(
    {
      op: oneOf(['add', 'remove', 'replace', 'move', 'test']),
      path: Type.String({ description: 'JSON Pointer, such as /rows/0/panels/-' }),
      from: Type.Optional(Type.String({ description: 'Of a move' })),
      value: Type.Optional(Type.Unknown()),
    },
    closed,
  ),
  { $id: 'DashboardPatch', maxItems: 500 },
);
export type DashboardPatch = Static<typeof patchSchema>;

/** With what its reader made of it. */
export interface ReadDashboard {
  readonly dashboard: Dashboard;
  /** Sanitised HTML of the panels that are text, by `row/panel`. */
  readonly texts: Readonly<Record<string, string>>;
}
