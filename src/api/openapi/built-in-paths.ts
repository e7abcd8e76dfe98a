import { Type } from '@sinclair/typebox';
import { meaningOf, type JsonObject, type ModelSet, type DocumentParts } from './models.ts';
import type { Route } from '../../http/context.ts';
import type {
  AnswerDescription,
  BodyDescription,
  OperationDescription,
  RouteMethod,
} from '../../http/operation-description.ts';

/** Null when the route describes nothing. */
export function builtInPath(route: Route, parts: DocumentParts): [string, JsonObject] | null {
  const { describes, methods } = route;
  const described = methods.filter((method) => describes[method] !== undefined);
  if (described.length === 0) return null;
  const path = documentedPath(route);
  const item = Object.fromEntries(
    described.map((method) => [
      method.toLowerCase(),
      operation(route, method, describes[method]!, path, parts),
    ]),
  );
  return [path, item];
}

/** `/api/apikeys/{key_id}`. */
export function documentedPath({ pattern, rules }: Route): string {
  const path = pattern.replace(/\{(\w+):\w+\}/g, '{$1}');
  return rules.endsInSlash === true && !path.endsWith('/') ? `${path}/` : path;
}

function operation(
  route: Route,
  method: RouteMethod,
  description: OperationDescription,
  path: string,
  parts: DocumentParts,
): JsonObject {
  const { models } = parts;
  const { summary, tag, parameters = [], body, answers } = description;
  const listed = [...pathParameters(route, parameters), ...parameters];
  const bodies = body === undefined ? [] : [body].flat();
  return {
    summary,
    tags: [tag],
    operationId: parts.operationId(method, path),
    ...(listed.length === 0
      ? {}
      : {
          parameters: listed.map(({ schema, required, ...rest }) => ({
            ...rest,
            ...(rest.in === 'path' || required === true ? { required: true } : {}),
            schema: models.refer(schema),
          })),
        }),
    ...(bodies.length === 0 ? {} : { requestBody: requestBody(bodies, parts) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, response(answer, parts)]),
      ),
      ...failures(route, errorsOf(route, method, description), parts),
    },
    ...(route.rules.access === 'public' ? parts.noSecurity : parts.security),
  };
}

/** Placeholders of the pattern that the description does not declare. */
function pathParameters(
  { pattern }: Route,
  described: NonNullable<OperationDescription['parameters']>,
): NonNullable<OperationDescription['parameters']> {
  const known = new Set(described.filter((one) => one.in === 'path').map(({ name }) => name));
  return [...pattern.matchAll(/\{(\w+)(?::(\w+))?\}/g)]
    .filter(([, name]) => !known.has(name!))
    .map(([, name = '', type]) => {
      const isNumber = type === 'int' || /(?:^|_)id$/.test(name);
      return {
        name,
        in: 'path' as const,
        description: isNumber ? 'Its number' : 'Its name',
        schema: isNumber ? Type.Integer({ minimum: 1 }) : Type.String(),
      };
    });
}

function requestBody(bodies: readonly BodyDescription[], { models }: DocumentParts): JsonObject {
  return {
    required: bodies.every(({ required }) => required !== false),
    content: contentOf(bodies, models),
  };
}

function contentOf(bodies: readonly BodyDescription[], models: ModelSet): JsonObject {
  return Object.fromEntries(
    bodies.map(({ mediaType = 'application/json', schema }) => [
      mediaType,
      schema === null ? {} : { schema: models.refer(schema) },
    ]),
  );
}

/** The shared errors, except those the route describes itself. */
function failures(
  { rules: { describesFailure } }: Route,
  statuses: readonly number[],
  { errors, models }: DocumentParts,
): JsonObject {
  const own = new Map(statuses.map((status) => [status, describesFailure?.(status) ?? null]));
  const shared = statuses.filter((status) => own.get(status) === null);
  const described = [...own].flatMap(([status, bodies]) =>
    bodies === null
      ? []
      : [[status, { description: meaningOf(status), content: contentOf(bodies, models) }]],
  );
  return { ...errors.refer(shared), ...Object.fromEntries(described) };
}

function response(answer: AnswerDescription, { models }: DocumentParts): JsonObject {
  const { description, mediaType, schema, hasPage } = answer;
  const content = {
    ...(schema === null && mediaType === undefined
      ? {}
      : {
          [mediaType ?? 'application/json']:
            schema === null ? {} : { schema: models.refer(schema) },
        }),
    ...(hasPage === true ? { 'text/html': {} } : {}),
  };
  return Object.keys(content).length === 0 ? { description } : { description, content };
}

function errorsOf(
  { rules: { access } }: Route,
  method: RouteMethod,
  { errors = [], parameters = [], body }: OperationDescription,
): number[] {
  const isUnsafe = method !== 'GET';
  return [
    ...errors,
    ...(access === 'public' ? [] : [401]),
    ...(access === 'superuser' || isUnsafe ? [403] : []),
    ...(isUnsafe ? [405] : []),
    ...(parameters.length > 0 || body !== undefined ? [422] : []),
  ];
}
