import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { MAX_LIST_ITEMS } from '../../tables/read/list-plan.ts';
import type { ListSource } from '../../store/list-source.ts';
import { successModel } from '../administration-models.ts';
import type {
  AnswerDescription,
  BodyDescription,
  OperationDescription,
  ParameterDescription,
} from '../../http/operation-description.ts';
import { queryParameter } from './parameters.ts';

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

/** Without `answer`: the plain success. */
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
