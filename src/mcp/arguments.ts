/**
 * The part of JSON Schema that the tools use. Ranges and columns are checked by the operation, whose messages are
 * then the same as over HTTP.
 */
import { AppError } from '../base/errors.ts';
import { JsonNumber } from '../base/json/json.ts';
import { isObject, type Members } from './message.ts';

interface ArgumentSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
}

const NAMES: Readonly<Record<string, string>> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  object: 'an object',
  array: 'an array',
  boolean: 'a boolean',
  null: 'null',
};

/** Throws `invalid-request` naming the first argument that is unknown, missing or of a wrong type. */
export function checkArguments(
  schema: { readonly properties?: object; readonly required?: readonly string[] },
  given: Members,
): void {
  const known = new Map(Object.entries(schema.properties ?? {}) as [string, ArgumentSchema][]);
  for (const name of Object.keys(given)) {
    if (known.has(name)) continue;
    const names = [...known.keys()].join(', ') || 'none';
    throw wrong(`Unknown argument '${name.slice(0, 100)}'; known are: ${names}`);
  }
  for (const [name, expected] of known) {
    const value = given[name];
    if (value !== undefined) checkValue(name, value, expected);
    else if (schema.required?.includes(name)) throw wrong(`Missing argument '${name}'`);
  }
}

function checkValue(name: string, value: unknown, schema: ArgumentSchema): void {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    const expected = types.map((type) => NAMES[type] ?? type).join(' or ');
    throw wrong(`Argument '${name}' must be ${expected}`);
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    throw wrong(`Argument '${name}' must be one of ${schema.enum.join(', ')}`);
  }
  const { maxLength } = schema;
  if (maxLength !== undefined && typeof value === 'string' && value.length > maxLength) {
    throw wrong(`Argument '${name}' must have at most ${maxLength} characters`);
  }
  if (hasProto(value)) throw wrong(`Argument '${name}' must not have a member '__proto__'`);
}

/** At any depth; bodies are bounded in depth and in values. */
function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'number':
      return ['number', 'bigint'].includes(typeof value) || value instanceof JsonNumber;
    case 'integer':
      return (
        Number.isInteger(value instanceof JsonNumber ? value.value : value) ||
        typeof value === 'bigint'
      );
    default:
      return typeof value === type;
  }
}

function wrong(text: string): AppError {
  return new AppError('invalid-request', text);
}
