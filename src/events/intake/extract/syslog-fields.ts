/**
 * `syslog`: RFC 5424, else RFC 3164, with or without `<PRI>`.
 */
import { parseTime, timeText } from '../../event-time.ts';
import { MONTHS, zonedMicros } from './calendar.ts';
import type { Members } from './members.ts';
import { memberSet, setPresent } from './members.ts';

// Patterns count escapes: alternation per character would take seconds in a megabyte of text.
const RFC5424 =
  /^(?:<(\d{1,3})>)?1 (\S+) (\S+) (\S+) (\S+) (\S+) (-|(?:\[[^\]"\\]*(?:(?:\\.|"[^"\\]*(?:\\.[^"\\]*){0,5000}")[^\]"\\]*){0,5000}\]){1,1000})(?: (.*))?$/s;
const MODERN_START = /^(?:<\d{1,3}>)?1 /;
/** Heroku leaves out the structured data. */
const HEROKU = /^<(\d{1,3})>1 (\d{4}-\S+) (\S+) (\S+) (\S+) (-) ()(?![-[])(.*)$/s;
/** Local messages have no host; what ends in a colon is the program. */
const RFC3164 =
  /^(?:<(\d{1,3})>)?([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d{2}):(\d{2}):(\d{2})(?:\.\d{1,6})? (?:(\S*[^\s:]) )?([^\s:[]+)(?:\[([^\]]*)\])?:? ?(.*)$/s;
const PRIORITY_ONLY = /^<(\d{1,3})>(.*)$/s;
const SEVERITIES = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
const DATE = /^\d{4}-\d\d-\d\dT/;
const MAX_PRIORITY = 191;
const DAY_MICROS = 86_400_000_000;

/** Null for other text. `now` (microseconds) supplies the year that RFC 3164 omits. */
export function extractSyslog(text: string, now: number, timezone: string): Members | null {
  const members = memberSet();
  const modern = MODERN_START.test(text) ? (RFC5424.exec(text) ?? HEROKU.exec(text)) : null;
  if (modern !== null && setPriority(members, modern[1])) {
    const [, , time, hostname, appname, procid, msgid, data, message] = modern;
    const micros = time === '-' ? null : parseTime(time!);
    // Without a priority, only the date distinguishes a syslog line from other text.
    if (time !== '-' && micros === null && modern[1] === undefined && !DATE.test(time!))
      return null;
    if (micros !== null) members['event_time'] = timeText(micros);
    setPresent(members, 'hostname', hostname);
    setPresent(members, 'appname', appname);
    setPresent(members, 'procid', procid);
    setPresent(members, 'msgid', msgid);
    if (data !== '-' && data !== '') members['structured_data'] = structuredData(data!);
    if (message !== undefined) members['message'] = message.replace(/^\ufeff/, '');
    return members;
  }
  const old = RFC3164.exec(text);
  if (old !== null && setPriority(members, old[1])) {
    const [, , month, day, hour, minute, second, hostname, appname, procid, message] = old;
    const monthAt = MONTHS.indexOf(month!);
    const parts = [monthAt, Number(day), Number(hour), Number(minute), Number(second)];
    const time = monthAt < 0 ? null : recentTime(parts, now, timezone);
    if (monthAt < 0 && old[1] === undefined) return null;
    if (time !== null) members['event_time'] = timeText(time);
    setPresent(members, 'hostname', hostname);
    setPresent(members, 'appname', appname);
    setPresent(members, 'procid', procid);
    members['message'] = message;
    return members;
  }
  const bare = PRIORITY_ONLY.exec(text);
  if (bare === null || !setPriority(members, bare[1])) return null;
  members['message'] = bare[2];
  return members;
}

/** False for an invalid priority. */
function setPriority(members: Members, text: string | undefined): boolean {
  if (text === undefined) return true;
  const priority = Number(text);
  if (priority > MAX_PRIORITY) return false;
  members['facility'] = priority >> 3;
  members['severity'] = priority & 7;
  members['severity_name'] = SEVERITIES[priority & 7];
  return true;
}

/** One after another: a search for the next bracket or name would begin anew at each character of a long one. */
const ELEMENT =
  /\[([^\s\]"\\]*)([^\]"\\]*(?:(?:\\.|"[^"\\]*(?:\\.[^"\\]*){0,5000}")[^\]"\\]*){0,5000})\]/sy;
const PARAMETER = /(?<![^\s="])([^\s="]+)="([^"\\]*(?:\\.[^"\\]*){0,5000})"/gs;
const MAX_ELEMENTS = 1000;

/** `text`: as in RFC5424. */
function structuredData(text: string): Members {
  const elements = memberSet();
  ELEMENT.lastIndex = 0;
  for (let count = 0; count < MAX_ELEMENTS; count += 1) {
    const element = ELEMENT.exec(text);
    if (element === null) break;
    const [, id, rest] = element;
    if (id === '') continue;
    const parameters = memberSet();
    for (const [, name, value] of rest!.matchAll(PARAMETER)) {
      parameters[name!] = value!.replace(/\\(["\\\]])/g, '$1');
    }
    elements[id!] = parameters;
  }
  return elements;
}

/** `parts`: month from 0, day, hour, minute, second. Chooses the year that puts them into (now - 364 d, now + 1 d]. */
export function recentTime(parts: readonly number[], now: number, timezone: string): number | null {
  const [month, day, hour = 0, minute = 0, second = 0] = parts;
  if (month === lastDay.month && day === lastDay.day && timezone === 'UTC') {
    const clock = (hour * 60 + minute) * 60 + second;
    const micros = lastDay.micros + clock * 1_000_000;
    // Two years in which it is that day are further apart than the span.
    if (hour < 24 && minute < 60 && second < 60 && isRecent(micros, now)) return micros;
  }
  const thisYear = new Date(now / 1000).getUTCFullYear();
  for (const year of [thisYear + 1, thisYear, thisYear - 1]) {
    const micros = zonedMicros([year, ...parts], timezone);
    if (micros === null || !isRecent(micros, now)) continue;
    const start = timezone === 'UTC' ? zonedMicros([year, month!, day!], timezone) : null;
    if (start !== null) Object.assign(lastDay, { month, day, micros: start });
    return micros;
  }
  return null;
}

/** Of the year that was found for the day before, in UTC. */
const lastDay = { month: -1, day: 0, micros: 0 };

function isRecent(micros: number, now: number): boolean {
  return micros <= now + DAY_MICROS && micros > now - 364 * DAY_MICROS;
}
