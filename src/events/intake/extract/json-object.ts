/** `json`: the members of an object. */
import { parseJson } from '../../../base/json/json.ts';
import { requireJsonBounds } from '../../../base/json/json-outline.ts';
import { hasAwkwardNumbers, isDeeper, isObject, isPlain, MAX_EVENT_VALUES } from '../json-text.ts';
import type { Members } from './members.ts';

/** Deeper data would overflow recursive code; it stays text. */
const MAX_DEPTH = 200;

/** With whether some hold numbers that JSON.stringify would change. */
interface JsonObject {
  /** With the prototype of objects: a name that others chose may only be added to a copy without one. */
  readonly members: Members;
  readonly isAwkward: boolean;
}

export function jsonObject(data: string): JsonObject | null {
  if (!/^\s*\{/.test(data)) return null;
  const isAwkward = hasAwkwardNumbers(data);
  let value: unknown;
  try {
    if (isAwkward || data.length > 2 * MAX_EVENT_VALUES)
      requireJsonBounds(data, { values: MAX_EVENT_VALUES, depth: MAX_DEPTH });
    value = isAwkward ? parseJson(data) : JSON.parse(data);
  } catch {
    // Not JSON, or beyond the limits of an event.
    return null;
  }
  return checked(value, data, isAwkward);
}

/** As `jsonObject`, already parsed. */
export function parsedObject(value: unknown, data: string): JsonObject | null {
  return isObject(value) ? checked(value, data, !isPlain(value)) : null;
}

/** NaN and 1e999 are not JSON a client could get back. */
function checked(value: unknown, data: string, isAwkward: boolean): JsonObject | null {
  if (!isObject(value) || (isAwkward && /[0-9][eE]\+?[0-9]{3}/.test(data) && hasInfinite(value)))
    return null;
  if (isDeeper(value, MAX_DEPTH)) return null;
  return { members: value, isAwkward };
}

function hasInfinite(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('source' in value && 'value' in value && typeof value.value === 'number') {
    return !Number.isFinite(value.value);
  }
  return Object.values(value).some(hasInfinite);
}
