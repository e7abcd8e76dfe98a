/** Patterns are compiled here, so that a bad one is a configuration error with its place. */
import type { Objection, Parsed, RawValue } from './setting.ts';
import { unknownKey } from './nearest-name.ts';
import { accepted, acceptedUnless, refused } from './setting.ts';
import type { ExtractorSetting, MemberType } from './extractor-pattern.ts';
import { compilePattern, isTimeFormat } from './extractor-pattern.ts';

/** Null: the common rules, 0: keep for ever. */
export interface IndexRetention {
  readonly max_age_days: number | null;
  readonly max_bytes: number | null;
}

const MEMBER_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean']);
const EXTRACTOR_KEYS = new Set(['sourcetype', 'regex', 'grok', 'field', 'types', 'time']);
const TIME_KEYS = new Set(['field', 'format', 'timezone']);
const RETENTION_KEYS = new Set(['max_age_days', 'max_bytes']);
const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** `''`, or `<n>/<unit>`. */
export function rate(given: string): Parsed<string> {
  const trimmed = given.trim();
  return trimmed === '' || /^[1-9]\d{0,8}\/(?:second|minute|hour|day)$/.test(trimmed)
    ? accepted(trimmed)
    : refused('a rate such as 120/minute', given);
}

/** `UTC`, an offset, or the name of a zone. */
export function timezone(given: string): Parsed<string> {
  const name = given.trim();
  if (/^(?:UTC|[+-]\d{2}:?\d{2})$/.test(name)) return accepted(name);
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return accepted(name);
  } catch {
    // RangeError: no such zone.
    return refused('UTC, an offset such as +02:00, or the name of a time zone', given);
  }
}

export function parseExtractors(raw: RawValue): Parsed<readonly ExtractorSetting[]> {
  if (!Array.isArray(raw)) return refused('a list', raw);
  const extractors: ExtractorSetting[] = [];
  const objections: Objection[] = [];
  for (const [index, item] of raw.entries()) {
    const parsed = parseExtractor(item as RawValue);
    if (parsed.ok) extractors.push(parsed.value);
    else objections.push({ problem: `item ${index + 1} ${parsed.problem}`, index });
  }
  return acceptedUnless(extractors, objections);
}

function parseExtractor(raw: RawValue): Parsed<ExtractorSetting> {
  if (!(raw instanceof Map)) return refused('a map', raw);
  const unknown = [...raw.keys()].find((key) => !EXTRACTOR_KEYS.has(key as string));
  if (unknown !== undefined) return problem(unknownKey(unknown, EXTRACTOR_KEYS));
  const sourcetype = textOf(raw, 'sourcetype');
  const regex = textOf(raw, 'regex');
  const grok = textOf(raw, 'grok');
  if (sourcetype === null) return problem('needs a sourcetype');
  if ((regex === null) === (grok === null)) return problem('needs one of regex and grok');
  const types = typesOf(raw.get('types'));
  if (types === null) return problem('types must name string, integer, number or boolean');
  const time = timeOf(raw.get('time'));
  if (time === 'wrong') return problem('time must have a field and a format');
  const field = textOf(raw, 'field') ?? 'data';
  if (time !== null && !isTimeFormat(time.format))
    return problem(`time.format '${time.format}' is no time format`);
  const setting = { sourcetype: sourcetype.toLowerCase(), regex, grok, field, types, time };
  try {
    compilePattern(setting);
  } catch (error) {
    return problem(`has a bad pattern: ${error instanceof Error ? error.message : String(error)}`);
  }
  return accepted(setting);
}

function typesOf(raw: RawValue): Record<string, MemberType> | null {
  if (raw === undefined || raw === null) return {};
  if (!(raw instanceof Map) || ![...raw.values()].every((type) => MEMBER_TYPES.has(type)))
    return null;
  return Object.fromEntries(raw) as Record<string, MemberType>;
}

function timeOf(raw: RawValue): ExtractorSetting['time'] | 'wrong' {
  if (raw === undefined || raw === null) return null;
  if (!(raw instanceof Map) || [...raw.keys()].some((key) => !TIME_KEYS.has(key as string)))
    return 'wrong';
  const field = textOf(raw, 'field');
  const format = textOf(raw, 'format');
  const zone = timezone(textOf(raw, 'timezone') ?? 'UTC');
  if (field === null || format === null || !zone.ok) return 'wrong';
  return { field, format, timezone: zone.value };
}

export function parseIndexRetention(
  raw: RawValue,
): Parsed<Readonly<Record<string, IndexRetention>>> {
  if (!(raw instanceof Map)) return refused('a map', raw);
  const rules: Record<string, IndexRetention> = {};
  const objections: Objection[] = [];
  for (const [index, [name, rule]] of [...(raw as ReadonlyMap<string, RawValue>)].entries()) {
    const parsed = parseRule(rule, name);
    if (parsed.ok) rules[name] = parsed.value;
    else objections.push({ problem: parsed.problem, index });
  }
  return acceptedUnless(rules, objections);
}

function parseRule(rule: RawValue, name: string): Parsed<IndexRetention> {
  if (!(rule instanceof Map)) return problem(`needs max_age_days or max_bytes under '${name}'`);
  const unknown = [...rule.keys()].find((key) => !RETENTION_KEYS.has(key as string));
  if (unknown !== undefined)
    return problem(unknownKey(unknown, RETENTION_KEYS, ` under '${name}'`));
  const age = amountOf(rule.get('max_age_days'));
  const bytes = amountOf(rule.get('max_bytes'));
  return age === undefined || bytes === undefined
    ? problem(`needs whole numbers under '${name}'`)
    : accepted({ max_age_days: age, max_bytes: bytes });
}

function amountOf(raw: RawValue): number | null | undefined {
  if (raw === undefined || raw === null) return null;
  if (typeof raw === 'number') return Number.isSafeInteger(raw) && raw >= 0 ? raw : undefined;
  const match = typeof raw === 'string' ? /^(\d+)\s*([kmg]ib)?$/i.exec(raw.trim()) : null;
  return match === null ? undefined : Number(match[1]) * BYTE_UNITS[match[2]?.toLowerCase() ?? '']!;
}

function textOf(map: ReadonlyMap<string, RawValue>, name: string): string | null {
  const value = map.get(name);
  return typeof value === 'string' && value !== '' ? value : null;
}

function problem<T>(text: string): Parsed<T> {
  return { ok: false, problem: text };
}
