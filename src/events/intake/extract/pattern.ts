/** Configured extractors: RE2 patterns and grok, in linear time for any text. */
import type { ExtractorSetting, MemberType } from '../../../config/extractor-pattern.ts';
import { compilePattern } from '../../../config/extractor-pattern.ts';
import { timeText } from '../../event-time.ts';
import { timeReader } from './calendar.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';

export type Extractor = (text: string) => Members | null;

/** Only the start of an event is searched. */
const MAX_SEARCHED = 64 * 1024;

/** Throws an Error whose message names the fault. */
export function compileExtractor(setting: ExtractorSetting): Extractor {
  const { pattern, names, types } = compilePattern(setting);
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

/** A value that does not fit its type stays text. */
function typed(text: string, type: MemberType | undefined): unknown {
  if (type === 'integer' && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}
