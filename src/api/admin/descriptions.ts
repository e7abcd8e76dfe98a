import { type TSchema, Type } from '@sinclair/typebox';
import { MAX_LIST_ITEMS } from '../../tables/read/list-plan.ts';
import type { ListSource } from '../../store/list-source.ts';
import { successModel } from '../administration-models.ts';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { integerParameter } from '../../tables/read/list-parameters.ts';
import type { Context } from '../../http/context.ts';
import type {
  AnswerDescription,
  BodyDescription,
  OperationDescription,
  ParameterDescription,
} from '../../http/operation-description.ts';

export function describeList(
  summary: string,
  item: TSchema,
  { sortable, order }: Pick<ListSource, 'sortable' | 'order'>,
  parameters: readonly ParameterDescription[] = [],
): OperationDescription {
  return {
    summary,
    tag: 'admin',
    parameters: [...listParameters(sortable, order), ...parameters],
    answers: { 200: { description: 'A page', schema: Type.Array(item) } },
    errors: [422, 504],
  };
}

/** Without `answer`: `{"success": true}`. */
export function describeChange(
  summary: string,
  errors: readonly number[],
  shapes: {
    readonly body?: TSchema;
    readonly answer?: TSchema;
    readonly parameters?: readonly ParameterDescription[];
  } = {},
): OperationDescription {
  const body: BodyDescription | undefined =
    shapes.body === undefined ? undefined : { schema: shapes.body, required: true };
  const answer: AnswerDescription = {
    description: 'Done',
    schema: shapes.answer ?? successModel,
  };
  return {
    summary,
    tag: 'admin',
    ...(shapes.parameters !== undefined && { parameters: shapes.parameters }),
    ...(body !== undefined && { body }),
    answers: { 200: answer },
    errors,
  };
}

function listParameters(
  sortable: readonly string[],
  order: 'asc' | 'desc',
): ParameterDescription[] {
  const words = (values: readonly string[], options = {}): TSchema =>
    Type.Union(
      values.map((value) => Type.Literal(value)),
      options,
    );
  return [
    queryParameter(
      'limit',
      'Most objects on the page',
      Type.Integer({ minimum: 1, maximum: MAX_LIST_ITEMS, default: MAX_LIST_ITEMS }),
    ),
    queryParameter('offset', 'Objects to skip', Type.Integer({ minimum: 0, default: 0 })),
    queryParameter('cursor', 'The place a Link header names'),
    queryParameter(
      'sort',
      `Members to sort by, in a comma list; - in front turns the direction: ${sortable.join(', ')}`,
    ),
    queryParameter(
      'order',
      'Direction of members without a -',
      words(['asc', 'desc'], { default: order }),
    ),
    queryParameter('filter', 'A filter as JSON, such as {"id":{"$gt":3}}'),
  ];
}

export function queryParameter(
  name: string,
  description: string,
  schema: TSchema = Type.String(),
): ParameterDescription {
  return { name, in: 'query', description, schema };
}

/** From 1; undefined when absent. Throws `invalid-request`. */
export function userIdParameter(context: Context): number | undefined {
  const issues: ValidationIssue[] = [];
  const value = integerParameter(context.query, 'user_id', { min: 1 }, issues);
  if (issues.length > 0) throw invalidRequest(...issues);
  return value ?? undefined;
}

const BOOLEANS = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Undefined when absent. Throws `invalid-request`. */
export function booleanParameter(context: Context, name: string): boolean | undefined {
  const input = context.queryValue(name);
  if (input === null) return undefined;
  const value = BOOLEANS.get(input.trim().toLowerCase());
  if (value !== undefined) return value;
  const msg = 'This parameter is true or false';
  throw invalidRequest({ type: 'bool_parsing', loc: ['query', name], msg, input });
}

/** Undefined when absent. Throws `invalid-request`. */
export function enumParameter<Word extends string>(
  context: Context,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const input = context.queryValue(name);
  if (input === null) return undefined;
  const word = words.find((one) => one === input);
  if (word !== undefined) return word;
  const expected = words.join(', ');
  const msg = `This parameter is one of ${expected}`;
  throw invalidRequest({ type: 'enum', loc: ['query', name], msg, input, ctx: { expected } });
}

/** Matched exactly; undefined when absent or empty. */
export function textParameter(context: Context, name: string): string | undefined {
  const value = context.queryValue(name);
  return value === null || value === '' ? undefined : value;
}
