/** Times in the history, and changes that stand for the time right after them. */
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import type { Context } from '../../http/context.ts';
import type { Moment } from '../../operations/files/versions.ts';

/** Of `?at=`; null without. Throws `invalid-request`. */
export function askedMoment(context: Pick<Context, 'queryValue'>, name = 'at'): Moment | null {
  const text = context.queryValue(name);
  if (text === null) return null;
  const issues: ValidationIssue[] = [];
  const moment = momentFrom(text, ['query', name], issues);
  if (moment === null) throw invalidRequest(...issues);
  return moment;
}

/** Null, with an issue, for what is no moment. */
export function momentFrom(
  value: unknown,
  loc: readonly string[],
  issues: ValidationIssue[],
): Moment | null {
  const isId = typeof value === 'number' || (typeof value === 'string' && /^\d{1,15}$/.test(value));
  const id = Number(value);
  if (isId && Number.isSafeInteger(id) && id >= 0) return { change: id };
  const own: ValidationIssue[] = [];
  const time = timeOf(value, loc, own);
  if (time !== undefined) return { time };
  const msg = 'Input should be the id of a change, or a time such as 2026-11-20T10:00:00Z';
  issues.push({ type: 'value_error', loc: [...loc], msg, input: value });
  return null;
}

/** As times are stored; undefined when absent. */
export function timeOf(
  value: unknown,
  loc: readonly string[],
  issues: ValidationIssue[],
): string | undefined {
  if (value === undefined) return undefined;
  const isTime =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  const time = isTime ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  const msg = 'Input should be a time such as 2026-11-20T10:00:00Z';
  issues.push({ type: 'value_error', loc: [...loc], msg, input: value });
  return undefined;
}
