/** Validates the members of an event from REST clients, with the error texts of the API. */
import { JsonNumber } from '../../base/json/json.ts';
import type { EventDraft } from '../event.ts';
import type { IntakeLimits, MetaDefaults, MetaName } from './intake.ts';
import { characters, fieldsProblem, META_NAMES } from './intake.ts';
import { isObject, JsonParseError, parseEventJson } from './json-text.ts';

/** By member; empty when valid. */
export type FieldErrors = Record<string, string[]>;

/** Undefined: the member was not sent. */
export interface SentEvent {
  readonly index: string | undefined;
  readonly sourcetype: string | undefined;
  readonly source: string | undefined;
  readonly host: string | undefined;
  readonly data: string | undefined;
  /** `hasFields` distinguishes null from absent. */
  readonly fields: unknown;
  readonly hasFields: boolean;
}

const MAX_CHARACTERS = 255;

/**
 * `requiresData`: create and PUT. `isForm`: `extracted_fields` is JSON text. Adds to `errors`; the result is invalid
 * then.
 */
export function readEvent(
  body: Record<string, unknown>,
  limits: IntakeLimits,
  options: { readonly requiresData: boolean; readonly isForm: boolean },
  errors: FieldErrors,
): SentEvent {
  const sent: Record<string, string | undefined> = {};
  for (const name of META_NAMES) {
    sent[name] = readText(body, name, errors);
    if (sent[name] !== undefined && characters(sent[name]) > MAX_CHARACTERS) {
      (errors[name] ??= []).push(
        `Ensure this field has no more than ${MAX_CHARACTERS} characters.`,
      );
    }
  }
  const data = readText(body, 'data', errors);
  if (data === undefined) {
    if (options.requiresData && errors['data'] === undefined) {
      errors['data'] = ['This field is required.'];
    }
  } else if (
    data.length * 3 > limits.maxEventBytes &&
    Buffer.byteLength(data) > limits.maxEventBytes
  ) {
    (errors['data'] ??= []).push(
      `Ensure this field has no more than ${limits.maxEventBytes} bytes.`,
    );
  }
  const hasFields = Object.hasOwn(body, 'extracted_fields');
  const fields = hasFields
    ? readFields(body['extracted_fields'], limits, options.isForm, errors)
    : undefined;
  return {
    index: sent['index'],
    sourcetype: sent['sourcetype'],
    source: sent['source'],
    host: sent['host'],
    data,
    fields,
    hasFields,
  };
}

/** Trimmed; undefined when absent or invalid. */
export function readText(
  body: Record<string, unknown>,
  name: string,
  errors: FieldErrors,
): string | undefined {
  if (!Object.hasOwn(body, name)) return undefined;
  const value = body[name];
  let text: string;
  if (typeof value === 'string') text = value.trim();
  else if (value === null) {
    errors[name] = ['This field may not be null.'];
    return undefined;
  } else if (typeof value === 'number' || typeof value === 'bigint') text = String(value);
  else if (value instanceof JsonNumber) text = numberText(value);
  else {
    errors[name] = ['Not a valid string.'];
    return undefined;
  }
  if (text === '') {
    errors[name] = ['This field may not be blank.'];
    return undefined;
  }
  if (text.includes('\0')) (errors[name] ??= []).push('Null characters are not allowed.');
  return text;
}

/** `1.0` stays `1.0`, `2.50` becomes `2.5`; numbers beyond a double keep their spelling. */
function numberText({ source, value }: JsonNumber): string {
  if (!Number.isFinite(value)) return source;
  return /^-?\d+\.0+$/.test(source) ? source.replace(/0+$/, '0') : String(value);
}

function readFields(
  value: unknown,
  limits: IntakeLimits,
  isForm: boolean,
  errors: FieldErrors,
): unknown {
  let fields = value;
  if (isForm) {
    try {
      fields = parseEventJson(String(value), limits.maxDepth);
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      errors['extracted_fields'] = ['Value must be valid JSON.'];
      return undefined;
    }
  }
  const problem = fieldsProblem(fields, limits);
  if (problem !== null) errors['extracted_fields'] = [problem];
  return fields;
}

export function metaOf(sent: SentEvent, defaults: MetaDefaults): Record<MetaName, string> {
  return {
    index: sent.index ?? defaults.index ?? 'default',
    sourcetype: sent.sourcetype ?? defaults.sourcetype ?? 'default',
    source: sent.source ?? defaults.source ?? 'default',
    host: sent.host ?? defaults.host ?? 'default',
  };
}

/** The error for a body that is not an object. */
export function notAnObject(value: unknown): FieldErrors {
  if (value === null || value === undefined) return { non_field_errors: ['No data provided'] };
  return {
    non_field_errors: [`Invalid data. Expected a dictionary, but got ${typeName(value)}.`],
  };
}

/** Python's name for the type, which error texts use. */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return 'list';
  if (value instanceof JsonNumber) return 'float';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return isObject(value) ? 'dict' : 'object';
}

/** Sent members replace stored ones. */
export function mergedMeta(
  sent: SentEvent,
  old: Pick<EventDraft, MetaName>,
): Record<MetaName, string> {
  return {
    index: sent.index ?? old.index,
    sourcetype: sent.sourcetype ?? old.sourcetype,
    source: sent.source ?? old.source,
    host: sent.host ?? old.host,
  };
}
