/**
 * The format of an answer that the address itself names.
 */
import { Type } from '@sinclair/typebox';
import { AppError } from '../../base/errors.ts';
import { type Format, FORMATS } from '../../tables/read/format.ts';
import type { Context } from '../context.ts';
import type { ParameterDescription } from '../operation-description.ts';

/** The format that the address asks for, null for none. Throws `not-found` for one there is not. */
export function askedFormat(context: Context): Format | null {
  const asked = context.queryValue('format');
  if (asked === null || asked === '') return null;
  const format = FORMATS.find((one) => one === asked);
  if (format !== undefined) return format;
  throw new AppError('not-found', 'Not found.');
}

export const formatParameter: ParameterDescription = {
  name: 'format',
  in: 'query',
  description: 'The rows as a file instead of a page',
  schema: Type.Union(FORMATS.map((format) => Type.Literal(format))),
};
