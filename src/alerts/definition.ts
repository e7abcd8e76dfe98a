/**
 * What an alert is: the one schema of requests, files and the OpenAPI document. Without `when` it is a search on a
 * schedule, whose last rows are kept.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { TimeZone } from '../base/time-zone.ts';
import { suggestion } from '../config/nearest-name.ts';
import { templateFaults } from '../deliveries/check.ts';
import { deliverySchema } from '../deliveries/target.ts';
import { ALERT_SAMPLE } from '../findings/finding-message.ts';
import { SEVERITIES } from '../findings/finding.ts';
import { BadSchedule, durationMs, scheduleOf } from './schedule.ts';

/** Of a result; what is counted or compared must fit. */
export const MAX_RESULT_ROWS = 1_000;
const MAX_QUERY = 64 * 1024;
const MAX_FIELDS = 10;
const MAX_DELIVERIES = 20;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const closed = { additionalProperties: false } as const;
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  );
const duration = (description: string) =>
  Type.String({ maxLength: 10, description: `${description}; such as 30s, 5m, 24h, 7d` });
const column = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const scalar = Type.Union([Type.Number(), Type.String({ maxLength: 1_000 }), Type.Boolean()]);

const bounds = {
  more_than: Type.Optional(Type.Number()),
  less_than: Type.Optional(Type.Number()),
};

const condition = Type.Union(
  [
    Type.Object(
      { type: Type.Literal('rows'), ...bounds },
      { ...closed, description: 'The number of rows' },
    ),
    Type.Object(
      {
        type: Type.Literal('value'),
        column: column('Of any row'),
        ...bounds,
        equals: Type.Optional(scalar),
        not_equals: Type.Optional(scalar),
      },
      { ...closed, description: 'A column of any row; those rows are what was found' },
    ),
    Type.Object(
      {
        type: Type.Literal('change'),
        column: Type.Optional(
          column('Its number in the first row; the number of rows unless given'),
        ),
        more_than: Type.Number({ minimum: 0 }),
        percent: Type.Optional(Type.Boolean({ description: 'more_than is in percent' })),
        direction: Type.Optional(oneOf(['up', 'down', 'any'], 'any unless given')),
      },
      { ...closed, description: 'Against the run before' },
    ),
    Type.Object({ type: Type.Literal('no data') }, { ...closed, description: 'No row at all' }),
  ],
  { description: 'When it fires; without it the search only runs' },
);

const muted = Type.Object(
  {
    days: Type.Optional(
      Type.Array(oneOf(DAYS, 'On which the window begins; every day unless given'), {
        minItems: 1,
        maxItems: 7,
      }),
    ),
    from: Type.String({
      maxLength: 40,
      description: '22:00, or a time such as 2026-12-24T18:00:00Z',
    }),
    to: Type.String({ maxLength: 40, description: '06:00, exclusive, or a time' }),
  },
  closed,
);

export const alertSchema = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.Optional(Type.String({ maxLength: 2_000 })),
    query: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_QUERY, description: 'Of the search language' }),
    ),
    savedsearch: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'In place of `query`: the name of a saved search that the owner sees',
      }),
    ),
    schedule: Type.String({
      maxLength: 200,
      description: 'every 5m, or five fields of cron: */15 8-18 * * mon-fri',
    }),
    timezone: Type.Optional(
      Type.String({ maxLength: 64, description: 'Of cron, days and mute; UTC unless given' }),
    ),
    window: Type.Optional(duration('Only events of the time before each run')),
    delay: Type.Optional(duration('For events that arrive late: runs so much after its time')),
    when: Type.Optional(condition),
    severity: Type.Optional(oneOf(SEVERITIES, 'medium unless given')),
    by: Type.Optional(
      Type.Array(column('Name of a column'), {
        minItems: 1,
        maxItems: MAX_FIELDS,
        description: 'A finding for each of their values; one for all rows unless given',
      }),
    ),
    throttle: Type.Optional(
      duration('Fires again for the same values after so much time at the earliest'),
    ),
    for: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: 'Runs in a row before it fires; 1 unless given',
      }),
    ),
    resolve: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: 'Resolves its finding after so many runs without it; people do unless given',
      }),
    ),
    mute: Type.Optional(
      Type.Array(muted, { maxItems: 20, description: 'Times at which it does not fire' }),
    ),
    deliveries: Type.Optional(Type.Array(deliverySchema, { maxItems: MAX_DELIVERIES })),
  },
  { ...closed, $id: 'AlertDefinition' },
);

export type AlertDefinition = Static<typeof alertSchema>;
export type AlertCondition = NonNullable<AlertDefinition['when']>;
export type MuteWindow = NonNullable<AlertDefinition['mute']>[number];

export interface DefinitionProblem {
  /** Of the text at that place, from 1; absent where the whole value is meant. */
  readonly line?: number;
  /** From the definition on: names, and positions in lists. */
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/**
 * The definition when it is right, else everything that is wrong. What queries and deliveries need of the server is
 * judged by others.
 */
export function checkDefinition(
  given: unknown,
): { readonly definition: AlertDefinition } | { readonly problems: readonly DefinitionProblem[] } {
  const problems = schemaProblems(alertSchema, given, []);
  if (problems.length > 0) return { problems };
  const definition = given as AlertDefinition;
  const wrong = [...meaningProblems(definition)];
  return wrong.length > 0 ? { problems: wrong } : { definition };
}

interface ObjectSchema extends TSchema {
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

/** Unions of objects are told apart by their `type`. */
function schemaProblems(
  schema: TSchema,
  given: unknown,
  path: readonly (string | number)[],
): DefinitionProblem[] {
  const choices = schema['anyOf'] as readonly TSchema[] | undefined;
  if (choices?.every((one) => one['properties'] !== undefined) === true)
    return unionProblems(choices as readonly ObjectSchema[], given, path);
  if (schema['properties'] !== undefined)
    return objectProblems(schema as ObjectSchema, given, path);
  const { items } = schema as { items?: TSchema };
  if (
    items !== undefined &&
    Array.isArray(given) &&
    Value.Check({ ...schema, items: Type.Unknown() }, given)
  )
    return given.flatMap((one: unknown, at) => schemaProblems(items, one, [...path, at]));
  if (Value.Check(schema, given)) return [];
  const words = choices?.map((one) => one['const'] as unknown);
  if (words?.every((word) => typeof word === 'string') === true) {
    const near = typeof given === 'string' ? suggestion(given, words as string[]) : '';
    return [{ path, text: `must be one of ${words.join(', ')}${near}` }];
  }
  const first = [...Value.Errors(schema, given)][0];
  return [{ path, text: sentence(first?.message ?? 'is wrong') }];
}

function sentence(message: string): string {
  return message
    .replace(/^Expected /, 'must be: ')
    .replace(/^must be: (?=union)/, 'must fit one of its forms: ');
}

function unionProblems(
  choices: readonly ObjectSchema[],
  given: unknown,
  path: readonly (string | number)[],
): DefinitionProblem[] {
  const types = choices.map(({ properties }) => String(properties['type']?.['const']));
  const type = isRecord(given) ? given['type'] : undefined;
  const chosen = choices[types.indexOf(String(type))];
  if (chosen !== undefined) return objectProblems(chosen, given, path);
  if (!isRecord(given)) return [{ path, text: 'must be an object with a type' }];
  const near = typeof type === 'string' ? suggestion(type, types) : '';
  return [
    type === undefined
      ? { path, text: `lacks 'type', one of ${types.join(', ')}` }
      : { path: [...path, 'type'], text: `must be one of ${types.join(', ')}${near}` },
  ];
}

function objectProblems(
  { properties, required = [] }: ObjectSchema,
  given: unknown,
  path: readonly (string | number)[],
): DefinitionProblem[] {
  if (!isRecord(given)) return [{ path, text: 'must be an object' }];
  const names = Object.keys(properties);
  const found: DefinitionProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    const at = [...path, name];
    const schema = Object.hasOwn(properties, name) ? properties[name]! : null;
    if (schema === null) {
      const near = suggestion(name, names) || `; known are ${names.join(', ')}`;
      found.push({ path: at, text: `is no member that is known here${near}` });
    } else if (value !== undefined) found.push(...schemaProblems(schema, value, at));
  }
  for (const name of required) {
    if (given[name] === undefined) found.push({ path, text: `lacks '${name}'` });
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* meaningProblems(definition: AlertDefinition): Generator<DefinitionProblem> {
  const { query, savedsearch, schedule, timezone = 'UTC', when, by } = definition;
  if ((query === undefined) === (savedsearch === undefined))
    yield {
      path: [query === undefined ? 'title' : 'savedsearch'],
      text: 'needs either query or savedsearch beside it',
    };
  if (timezone !== 'UTC' && (TimeZone.named(timezone) === null || /^[+-]/.test(timezone)))
    yield {
      path: ['timezone'],
      text: `'${timezone}' is no time zone; write UTC or a name such as Europe/Vienna`,
    };
  else {
    try {
      scheduleOf(schedule, timezone);
    } catch (error) {
      if (!(error instanceof BadSchedule)) throw error;
      yield { path: ['schedule'], text: error.message };
    }
  }
  for (const name of ['window', 'delay', 'throttle'] as const) {
    const given = definition[name];
    if (given === undefined) continue;
    const ms = durationMs(given);
    if (ms === null)
      yield { path: [name], text: `'${given}' is no duration; write 30s, 5m, 24h or 7d` };
    else if (name !== 'delay' && ms === 0)
      yield { path: [name], text: 'must be longer than nothing' };
    else if (name === 'delay' && ms > 86_400_000)
      yield { path: [name], text: 'is one day at most' };
  }
  if (when !== undefined) yield* conditionProblems(when);
  if (when === undefined) {
    for (const name of [
      'severity',
      'by',
      'throttle',
      'for',
      'resolve',
      'mute',
      'deliveries',
    ] as const) {
      if (definition[name] !== undefined)
        yield {
          path: [name],
          text: "belongs to an alert, which has 'when'; without it the search only runs",
        };
    }
  } else if (
    by !== undefined &&
    (when.type === 'no data' || (when.type === 'change' && when.column === undefined))
  )
    yield {
      path: ['by'],
      text: `means nothing for '${when.type}', which is about all rows together`,
    };
  for (const [at, target] of (definition.deliveries ?? []).entries()) {
    for (const { path, text, line } of templateFaults(target, ALERT_SAMPLE))
      yield { path: ['deliveries', at, ...path], text, ...(line !== null && { line }) };
  }
  for (const [at, window] of (definition.mute ?? []).entries())
    yield* muteProblems(window, ['mute', at]);
}

function* conditionProblems(when: AlertCondition): Generator<DefinitionProblem> {
  if (when.type === 'change' || when.type === 'no data') return;
  const tests =
    when.type === 'rows'
      ? (['more_than', 'less_than'] as const)
      : (['more_than', 'less_than', 'equals', 'not_equals'] as const);
  const given = tests.filter((name) => (when as Record<string, unknown>)[name] !== undefined);
  if (given.length !== 1)
    yield { path: ['when'], text: `needs exactly one of ${tests.join(', ')}` };
  const number = when.type === 'rows' ? (when.more_than ?? when.less_than) : undefined;
  if (
    number !== undefined &&
    (!Number.isInteger(number) || number < 0 || number >= MAX_RESULT_ROWS)
  )
    yield {
      path: ['when', given[0]!],
      text: `must be a whole number from 0 to ${MAX_RESULT_ROWS - 1}; for more count in the query (| stats count) and compare the value`,
    };
}

const CLOCK = /^([01]\d|2[0-3]):([0-5]\d)$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

function* muteProblems(
  { days, from, to }: MuteWindow,
  path: readonly (string | number)[],
): Generator<DefinitionProblem> {
  const isClock = [from, to].every((text) => CLOCK.test(text));
  const isMoment = [from, to].every((text) => MOMENT.test(text) && !Number.isNaN(Date.parse(text)));
  if (!isClock && !isMoment)
    yield {
      path,
      text: 'from and to are either both times of day such as 22:00, or both times such as 2026-12-24T18:00:00Z',
    };
  else if (from === to || (isMoment && Date.parse(from) >= Date.parse(to)))
    yield { path, text: 'ends before it begins' };
  else if (isMoment && days !== undefined)
    yield { path: [...path, 'days'], text: 'belongs to times of day' };
}

/** `at`: milliseconds of the epoch. */
export function isMuted({ mute = [], timezone = 'UTC' }: AlertDefinition, at: number): boolean {
  if (mute.length === 0) return false;
  const local = new Date(TimeZone.named(timezone)!.toLocal(at));
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes();
  const today = (local.getUTCDay() + 6) % 7;
  return mute.some(({ days, from, to }) => {
    const [start, end] = [minuteOf(from), minuteOf(to)];
    if (start === null || end === null) return at >= Date.parse(from) && at < Date.parse(to);
    const on = (day: number): boolean => days?.includes(DAYS[day]!) ?? true;
    if (start < end) return on(today) && minute >= start && minute < end;
    // Over midnight: it belongs to the day on which it began.
    return (on(today) && minute >= start) || (on((today + 6) % 7) && minute < end);
  });
}

function minuteOf(text: string): number | null {
  const match = CLOCK.exec(text);
  return match === null ? null : Number(match[1]) * 60 + Number(match[2]);
}
