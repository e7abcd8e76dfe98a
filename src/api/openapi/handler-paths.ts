/**
 * The routes that a handler file reports, as path items of the document of one caller.
 *
 * A handler's program may report anything: models of its own, operation ids that others use too, undeclared
 * parameters. Its models are written inline, so that those of two handlers cannot collide.
 */
import type { RouterSchema } from '../../handlers/host-protocol.ts';
import type { DescribedResource } from '../../operations/files/resources.ts';
import type { JsonObject, DocumentParts } from './models.ts';

const READ_METHODS: readonly string[] = ['get', 'head', 'options'];
const WRITE_METHODS: readonly string[] = ['post', 'put', 'patch', 'delete'];
const REFERENCE = '#/components/schemas/';
/** Levels to which a recursive model is expanded. */
const MAX_NESTING = 3;

/** Without references to models. */
export function standalonePaths({ paths, components }: RouterSchema): JsonObject {
  return writtenOut(paths, components?.schemas ?? {}, []) as JsonObject;
}

function writtenOut(
  value: unknown,
  models: Readonly<Record<string, unknown>>,
  inside: readonly string[],
): unknown {
  if (Array.isArray(value)) return value.map((item) => writtenOut(item, models, inside));
  if (value === null || typeof value !== 'object') return value;
  const { $ref: reference } = value as { $ref?: unknown };
  if (typeof reference === 'string') {
    const name = reference.startsWith(REFERENCE) ? reference.slice(REFERENCE.length) : '';
    const isTooDeep = inside.filter((one) => one === name).length >= MAX_NESTING;
    if (!Object.hasOwn(models, name) || isTooDeep) return {};
    return writtenOut(models[name], models, [...inside, name]);
  }
  const members = Object.entries(value).filter(([key]) => key !== '$id');
  return Object.fromEntries(members.map(([key, one]) => [key, writtenOut(one, models, inside)]));
}

/** As far as the caller may use it; `path` is its whole address. */
export function handlerItem(
  item: JsonObject,
  { resource, mayRead, mayWrite }: DescribedResource,
  path: string,
  parts: DocumentParts,
): JsonObject {
  const methods = [...(mayRead ? READ_METHODS : []), ...(mayWrite ? WRITE_METHODS : [])];
  const shown = methods.filter((method) => isObject(item[method]));
  const operations = shown.map((method) => {
    const reported = item[method] as JsonObject;
    const operation = {
      ...reported,
      operationId: parts.operationId(method, path),
      summary: reported['summary'] ?? `Call ${method.toUpperCase()} of ${resource.canonical}`,
      tags: ['handler'],
      ...parts.security,
      parameters: parametersOf(reported, path),
      responses: { ...responsesOf(reported), ...parts.errors.refer([401, 403]) },
    };
    return [method, operation] as const;
  });
  return Object.fromEntries(operations);
}

/** Declares every name in the path, whether the handler did or not. */
function parametersOf({ parameters }: JsonObject, path: string): unknown[] {
  const reported = Array.isArray(parameters) ? parameters.filter(isObject) : [];
  const described = new Set(reported.map((one) => (one['in'] === 'path' ? one['name'] : null)));
  const missing = [...path.matchAll(/\{([^}]+)\}/g)]
    .map(([, name]) => name)
    .filter((name) => !described.has(name))
    .map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  return [...reported, ...missing];
}

function responsesOf({ responses }: JsonObject): JsonObject {
  const reported = isObject(responses) ? responses : {};
  return Object.keys(reported).length > 0 ? reported : { 200: { description: 'The answer' } };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
