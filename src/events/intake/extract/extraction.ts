/**
 * Fields found in an event's data: by its sourcetype where that names a format, else by the look of the data, and by the
 * configured extractors. Never fails: unreadable data yields nothing.
 */
import { exactJson, isObject } from '../json-text.ts';
import { parseTime } from '../../event-time.ts';
import { extractAccessLog } from './access-log.ts';
import type { Layout } from './column-lines.ts';
import { layoutIn } from './column-lines.ts';
import { Layouts } from './layouts.ts';
import type { Detected, Found, Surroundings } from './detect.ts';
import { detect, finish, jsonFound, lineFound, syslogFound } from './detect.ts';
import { jsonObject, parsedObject } from './json-object.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';
import { extractPairs } from './pairs.ts';
import type { Extractor } from './pattern.ts';
import type { ExtractorSetting } from '../../../config/extractor-pattern.ts';
import { compileExtractor } from './pattern.ts';

export interface ExtractionSettings {
  readonly extractors: readonly ExtractorSetting[];
  readonly syslogTimezone: string;
}

/** The text an event consists of, and where it is from. */
export interface Line {
  readonly sourcetype: string;
  readonly data: string;
  readonly index: string;
  readonly source: string;
  /** `data` already parsed. */
  readonly json?: unknown;
}

export interface Extracted {
  /** JSON of `extracted_fields`. */
  readonly text: string;
  /** Microseconds. */
  readonly eventTime: number | null;
  readonly host: string | null;
}

interface Pattern {
  readonly sourcetype: string;
  readonly field: string;
  readonly extract: Extractor;
}

export class Extraction {
  readonly #timezone: string;
  #patterns: readonly Pattern[];
  readonly #settings: ExtractionSettings;
  readonly #layouts: Layouts;

  constructor(settings: ExtractionSettings, layouts = new Layouts()) {
    this.#settings = settings;
    this.#timezone = settings.syslogTimezone;
    this.#layouts = layouts;
    this.#patterns = settings.extractors.map((setting) => ({
      sourcetype: setting.sourcetype,
      field: setting.field,
      extract: compileExtractor(setting),
    }));
  }

  /** The same with columns of its own. */
  withLayouts(layouts: Layouts): Extraction {
    const other = new Extraction({ ...this.#settings, extractors: [] }, layouts);
    other.#patterns = this.#patterns;
    return other;
  }

  /** `client` undefined: no fields were sent. `now`: microseconds. */
  fieldsOf(line: Line, client: unknown, now: number): Extracted {
    const found = this.read(line, now);
    const isKept = found !== null && (found.isChosen || client === undefined || isObject(client));
    if (!isKept) {
      const host = found?.host?.value ?? null;
      if (client === undefined) return { text: '{}', eventTime: null, host };
      return { text: exactJson(client), eventTime: eventTimeOf(client), host };
    }
    const { members, isAwkward } = found;
    const merged = isObject(client) ? mergedWith(client, found) : members;
    const isKnownPlain = !isAwkward && (client === undefined || line.json !== undefined);
    const text = isKnownPlain ? JSON.stringify(merged) : exactJson(merged);
    const isFound = merged['event_time'] === members['event_time'] && found.time !== null;
    const eventTime = isFound ? found.time.value : eventTimeOf(merged);
    return { text, eventTime, host: found.host?.value ?? null };
  }

  /** Null: nothing was found. */
  read(line: Line, now: number): Detected | null {
    const sourcetype = line.sourcetype.toLowerCase();
    const around = { now, timezone: this.#timezone, layout: this.#layoutOf(line) };
    const named = builtIn(sourcetype, line, around);
    let found = named === undefined ? detect(line.data, around) : named;
    if (found !== null) found.isChosen = named !== undefined;
    for (const { sourcetype: wanted, field, extract } of this.#patterns) {
      if (wanted !== '*' && wanted !== sourcetype) continue;
      const text = field === 'data' ? line.data : found?.members[field];
      const members = typeof text === 'string' ? extract(text) : null;
      if (members !== null) found = withPattern(found, members, wanted === '*');
    }
    return found;
  }

  /** What an earlier line of the source said of its columns. */
  #layoutOf({ index, source, data }: Line): Layout | undefined {
    const told = data.startsWith('#') ? layoutIn(data) : null;
    if (told !== null) this.#layouts.tell(index, source, told);
    return told !== null || this.#layouts.isEmpty ? undefined : this.#layouts.find(index, source);
  }
}

export function eventTimeOf(fields: unknown): number | null {
  if (!isObject(fields)) return null;
  const value = Object.hasOwn(fields, 'event_time') ? fields['event_time'] : null;
  return typeof value === 'string' ? parseTime(value) : null;
}

function mergedWith(client: Members, { members, isChosen, isTimeDerived }: Detected): Members {
  if (!isChosen) return Object.assign(memberSet(), members, client);
  const merged = Object.assign(memberSet(), client, members);
  if (isTimeDerived && Object.hasOwn(client, 'event_time'))
    merged['event_time'] = client['event_time'];
  return merged;
}

/** An extractor of the sourcetype takes the place of what was guessed; one for all is added. */
function withPattern(found: Detected | null, members: Members, isForAll: boolean): Detected {
  const time = eventTimeOf(members);
  const fact = time === null ? null : { value: time, key: 'extractor' };
  const base = {
    format: 'extractor',
    time: fact ?? found?.time ?? null,
    host: found?.host ?? null,
    isTimeDerived: fact === null,
    isAwkward: found?.isAwkward ?? false,
    isChosen: true,
  };
  if (found === null) return { ...base, members };
  if (found.isChosen || isForAll) {
    const format =
      found.isChosen && found.format !== 'extractor' ? `${found.format}, extractor` : base.format;
    return { ...base, format, members: Object.assign(memberSet(), found.members, members) };
  }
  const { event_time } = found.members;
  return {
    ...base,
    members: event_time === undefined || fact !== null ? members : { event_time, ...members },
  };
}

/** Undefined: the sourcetype names no format. */
function builtIn(
  sourcetype: string,
  { data, json }: Line,
  around: Surroundings,
): Detected | null | undefined {
  switch (sourcetype) {
    case 'json': {
      const object = json === undefined ? jsonObject(data) : parsedObject(json, data);
      return finished(object === null ? null : jsonFound(object), around);
    }
    case 'kv':
    case 'logfmt':
      return finished(lineFound(extractPairs(data, sourcetype), data, around), around);
    case 'syslog':
      return finished(syslogFound(data, around), around);
    case 'access_combined': {
      const members = extractAccessLog(data);
      return finished(members === null ? null : { format: 'access', members }, around);
    }
    case 'auto':
      return detect(data, around);
    case 'none':
    case 'plain':
      return null;
    default:
      return undefined;
  }
}

function finished(found: Found | null, around: Surroundings): Detected | null {
  return found === null ? null : finish(found, around);
}
