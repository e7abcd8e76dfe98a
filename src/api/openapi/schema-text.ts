/**
 * Schemas of the document as text: a line for each member, a type in words, an example value.
 *
 * Schemas of handlers come from their programs, so any shape is possible.
 */
import type { JsonObject } from './models.ts';

export interface SchemaLine {
  readonly name: string;
  readonly depth: number;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

export type Components = Readonly<Record<string, JsonObject>>;

/** Deeper members show only their type; a model may contain itself. */
const MAX_DEPTH = 4;
const MAX_LINES = 200;

/** Members of an object, of the items of a list, or of the alternatives of a choice, in their order. */
export function schemaLines(schema: unknown, components: Components, depth = 0): SchemaLine[] {
  if (depth > MAX_DEPTH) return [];
  const { properties, required, items, anyOf } = resolved(schema, components);
  if (isObject(items)) return schemaLines(items, components, depth);
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => schemaLines(one, components, depth));
  if (!isObject(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const lines = Object.entries(properties).flatMap(([name, member]) => [
    {
      name,
      depth,
      type: typeText(member, components),
      isRequired: needed.includes(name),
      description: textOf(resolved(member, components)['description']),
    },
    ...schemaLines(member, components, depth + 1),
  ]);
  return lines.slice(0, MAX_LINES);
}

/** `integer, at least 1`, `list of User`, `"asc" or "desc"`. */
export function typeText(schema: unknown, components: Components): string {
  const one = resolved(schema, components);
  const choices = choicesOf(one);
  if (choices !== null) return choices.map((value) => JSON.stringify(value)).join(' or ');
  if (Array.isArray(one['anyOf'])) {
    return [...new Set(one['anyOf'].map((choice) => typeText(choice, components)))].join(' or ');
  }
  const { type, format, minimum, maximum, items } = one;
  if (type === 'array') {
    return items === undefined ? 'list' : `list of ${typeText(items, components)}`;
  }
  const name = modelName(schema) ?? (Array.isArray(type) ? type.join(' or ') : textOf(type));
  const limits = [
    ...(typeof format === 'string' ? [format] : []),
    ...(typeof minimum === 'number' ? [`at least ${minimum}`] : []),
    ...(typeof maximum === 'number' ? [`at most ${maximum}`] : []),
  ];
  return [name === '' ? 'anything' : name, ...limits].join(', ');
}

export function choicesOf(schema: JsonObject): readonly unknown[] | null {
  if (Array.isArray(schema['enum'])) return schema['enum'];
  if ('const' in schema) return [schema['const']];
  const { anyOf } = schema;
  if (!Array.isArray(anyOf) || anyOf.length === 0) return null;
  const values = anyOf.map((one) => (isObject(one) && 'const' in one ? [one['const']] : []));
  return values.every((value) => value.length === 1) ? values.flat() : null;
}

/** Built from the examples in the schema where it has some. */
export function exampleOf(schema: unknown, components: Components, depth = 0): unknown {
  const one = resolved(schema, components);
  if (Array.isArray(one['examples']) && one['examples'].length > 0) return one['examples'][0];
  if ('example' in one) return one['example'];
  if ('default' in one) return one['default'];
  const choices = choicesOf(one);
  if (choices !== null) return choices[0];
  if (Array.isArray(one['anyOf'])) return exampleOf(one['anyOf'][0], components, depth);
  if (depth > MAX_DEPTH) return null;
  if (one['type'] === 'array') return [exampleOf(one['items'], components, depth + 1)];
  if (isObject(one['properties'])) {
    const members = Object.entries(one['properties']);
    return Object.fromEntries(
      members.map(([name, member]) => [name, exampleOf(member, components, depth + 1)]),
    );
  }
  return exampleOfType(one);
}

function exampleOfType({ type, format, minimum }: JsonObject): unknown {
  const [first] = Array.isArray(type) ? type : [type];
  if (first === 'integer' || first === 'number') return minimum ?? 1;
  if (first === 'boolean') return true;
  if (first === 'null') return null;
  if (first === 'object') return {};
  return format === 'date-time' ? '2026-11-20T12:00:00Z' : 'text';
}

/** Follows a reference; an empty schema for anything that is none. */
export function resolved(schema: unknown, components: Components): JsonObject {
  if (!isObject(schema)) return {};
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return schema;
  const [kind = '', name = ''] = reference.split('/').slice(2);
  const found = Object.hasOwn(components, kind) ? components[kind]?.[name] : undefined;
  return isObject(found) ? found : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function modelName(schema: unknown): string | null {
  const reference = isObject(schema) ? schema['$ref'] : null;
  return typeof reference === 'string' ? (reference.split('/').at(-1) ?? null) : null;
}
