/**
 * Extractors of the configuration: RE2 patterns and grok (EV-47). Linear time, whatever the text.
 */
import { RE2JS } from 're2js';
import type { ExtractorSetting, MemberType } from '../../config/event-values.ts';
import { timeText } from '../event-time.ts';
import { timeReader } from './calendar.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

/** A compiled one: members of a text, or null. */
export type Extractor = (text: string) => Members | null;

/** Only the start of an event is searched. */
const MAX_SEARCHED = 64 * 1024;

const GROK: Readonly<Record<string, string>> = {
  WORD: '\\b\\w+\\b',
  NOTSPACE: '\\S+',
  INT: '[+-]?[0-9]+',
  NUMBER: '[+-]?(?:[0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)',
  IP: '(?:[0-9]{1,3}\\.){3}[0-9]{1,3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+',
  HOSTNAME: '\\b[0-9A-Za-z][0-9A-Za-z-]{0,62}(?:\\.[0-9A-Za-z][0-9A-Za-z-]{0,62})*\\b',
  PATH: '(?:/[^\\s?#]*)+',
  URI: '[A-Za-z][A-Za-z0-9+.-]*://\\S+',
  UUID: '[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}',
  TIMESTAMP_ISO8601:
    '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?',
  HTTPDATE: '[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}',
  QUOTEDSTRING: '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'',
  DATA: '.*?',
  GREEDYDATA: '.*',
};

/** The extractor of a setting. Throws an Error whose message names what is wrong with it. */
export function compileExtractor(setting: ExtractorSetting): Extractor {
  const types: Record<string, MemberType> = { ...setting.types };
  const source = setting.grok === null ? setting.regex! : grokSource(setting.grok, types);
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(
      source.replaceAll('(?<', '(?P<').replaceAll('(?P<=', '(?<=').replaceAll('(?P<!', '(?<!'),
    );
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const names = Object.keys(pattern.namedGroups());
  if (names.length === 0) throw new Error('the pattern has no named group');
  const { time } = setting;
  const readTime = time === null ? null : timeReader(time.format, time.timezone);
  if (time !== null && readTime === null) throw new Error(`'${time.format}' is no time format`);
  return (text) => {
    const matcher = pattern.matcher(text.slice(0, MAX_SEARCHED));
    if (!matcher.find()) return null;
    const members = memberSet();
    for (const name of names) {
      const value = matcher.group(name);
      if (value !== null && value !== undefined) members[name] = typed(value, types[name]);
    }
    if (time !== null && readTime !== null) {
      const micros = readTime(String(members[time.field] ?? ''));
      if (micros !== null) members['event_time'] = timeText(micros);
    }
    return members;
  };
}

function grokSource(grok: string, types: Record<string, MemberType>): string {
  return grok.replace(
    /%\{(\w+)(?::(\w+)(?::(int|float))?)?\}/g,
    (_, pattern: string, name?: string, type?: string) => {
      const source = GROK[pattern];
      if (source === undefined) throw new Error(`there is no grok pattern '${pattern}'`);
      if (name === undefined) return `(?:${source})`;
      if (type !== undefined) types[name] = type === 'int' ? 'integer' : 'number';
      return `(?P<${name}>${source})`;
    },
  );
}

/** A text that does not fit its type stays text. */
function typed(text: string, type: MemberType | undefined): unknown {
  if (type === 'integer' && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}
