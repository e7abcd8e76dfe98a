import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { integerParameter } from '../../tables/read/list-parameters.ts';
import type { Context } from '../../http/context.ts';
import type { ParameterDescription } from '../../http/operation-description.ts';

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
