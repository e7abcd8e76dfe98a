/**
 * Fields found in an event's data, by its sourcetype and the configured extractors. Never fails: unreadable data
 * yields nothing.
 */
import {
  exactJson,
  hasAwkwardNumbers,
  isDeeper,
  isObject,
  isPlain,
  MAX_EVENT_VALUES,
} from '../json-text.ts';
import { parseJson } from '../../../base/json/json.ts';
import { requireJsonBounds } from '../../../base/json/json-outline.ts';
import { parseTime } from '../../event-time.ts';
import { extractAccessLog } from './access-log.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';
import { extractPairs, hasTwoPairs } from './pairs.ts';
import type { Extractor } from './pattern.ts';
import type { ExtractorSetting } from '../../../config/extractor-pattern.ts';
import { compileExtractor } from './pattern.ts';
import { extractSyslog } from './syslog-fields.ts';

/** Deeper data would overflow recursive code; it stays text. */
const MAX_DEPTH = 200;

export interface ExtractionSettings {
  readonly extractors: readonly ExtractorSetting[];
  readonly syslogTimezone: string;
}

/** With whether some hold numbers that JSON.stringify would change. */
interface Found {
  readonly members: Members;
  readonly isAwkward: boolean;
}

export class Extraction {
  readonly #timezone: string;
  readonly #patterns: { sourcetype: string; field: string; extract: Extractor }[];

  constructor(settings: ExtractionSettings) {
    this.#timezone = settings.syslogTimezone;
    this.#patterns = settings.extractors.map((setting) => ({
      sourcetype: setting.sourcetype,
      field: setting.field,
      extract: compileExtractor(setting),
    }));
  }

  /** `now`: microseconds. */
  membersOf(sourcetype: string, data: string, now: number): Members | null {
    return this.#find(sourcetype.toLowerCase(), data, now)?.members ?? null;
  }

  /**
   * JSON text of `extracted_fields`: the extracted members override the client's. `client` undefined: none sent.
   * `json`: `data` already parsed.
   */
  fieldsOf(
    sourcetype: string,
    data: string,
    client: unknown,
    now: number,
    json?: unknown,
  ): { text: string; eventTime: number | null } {
    const found = this.#find(sourcetype.toLowerCase(), data, now, json);
    if (found === null) {
      if (client === undefined) return { text: '{}', eventTime: null };
      return { text: exactJson(client), eventTime: eventTimeOf(client) };
    }
    const merged = isObject(client) ? { ...client, ...found.members } : found.members;
    const isKnownPlain = !found.isAwkward && (client === undefined || json !== undefined);
    const text = isKnownPlain ? JSON.stringify(merged) : exactJson(merged);
    return { text, eventTime: eventTimeOf(merged) };
  }

  #find(sourcetype: string, data: string, now: number, json?: unknown): Found | null {
    const own =
      json === undefined || sourcetype !== 'json'
        ? builtIn(sourcetype, data, now, this.#timezone)
        : readObject(json, data);
    let members = own?.members ?? null;
    for (const { sourcetype: wanted, field, extract } of this.#patterns) {
      if (wanted !== '*' && wanted !== sourcetype) continue;
      const text = field === 'data' ? data : members?.[field];
      if (typeof text !== 'string') continue;
      const found = extract(text);
      if (found !== null) members = members === null ? found : Object.assign(members, found);
    }
    return members === null ? null : { members, isAwkward: own?.isAwkward ?? false };
  }
}

export function eventTimeOf(fields: unknown): number | null {
  if (!isObject(fields)) return null;
  const value = Object.hasOwn(fields, 'event_time') ? fields['event_time'] : null;
  return typeof value === 'string' ? parseTime(value) : null;
}

function builtIn(sourcetype: string, data: string, now: number, timezone: string): Found | null {
  switch (sourcetype) {
    case 'json':
      return jsonObject(data);
    case 'kv':
      return plain(extractPairs(data, 'kv'));
    case 'logfmt':
      return plain(extractPairs(data, 'logfmt'));
    case 'syslog':
      return plain(extractSyslog(data, now, timezone));
    case 'access_combined':
      return plain(extractAccessLog(data));
    case 'auto':
      return automatic(data, now, timezone);
    default:
      return null;
  }
}

function automatic(data: string, now: number, timezone: string): Found | null {
  if (/^\s*\{/.test(data)) {
    const found = jsonObject(data);
    if (found !== null) return found;
  }
  if (/^<\d{1,3}>/.test(data)) {
    const found = extractSyslog(data, now, timezone);
    if (found !== null) return plain(found);
  }
  const access = extractAccessLog(data);
  if (access !== null) return plain(access);
  return hasTwoPairs(data) ? plain(extractPairs(data, 'kv')) : null;
}

function plain(members: Members | null): Found | null {
  return members === null ? null : { members, isAwkward: false };
}

function jsonObject(data: string): Found | null {
  // NaN and 1e999 are not JSON a client could get back.
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
  if (!isObject(value) || (isAwkward && /[0-9][eE]\+?[0-9]{3}/.test(data) && hasInfinite(value)))
    return null;
  if (isDeeper(value, MAX_DEPTH)) return null;
  return { members: Object.assign(memberSet(), value), isAwkward };
}

/** As `jsonObject`, already parsed. */
function readObject(value: unknown, data: string): Found | null {
  if (!isObject(value)) return null;
  const isAwkward = !isPlain(value);
  if (isAwkward && /[0-9][eE]\+?[0-9]{3}/.test(data) && hasInfinite(value)) return null;
  return { members: Object.assign(memberSet(), value), isAwkward };
}

function hasInfinite(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('source' in value && 'value' in value && typeof value.value === 'number') {
    return !Number.isFinite(value.value);
  }
  return Object.values(value).some(hasInfinite);
}
