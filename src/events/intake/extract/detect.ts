/**
 * Formats told by the data itself, for events whose sourcetype names none.
 *
 * Frames (syslog, the lines of container runtimes, a collector's JSON) hold a line of a program, in which the search goes
 * on; what the frame says of time and host counts before what the line says. Prose yields nothing: pairs count from two
 * on, a level only behind a time.
 */
import { parseTime, timeText } from '../../event-time.ts';
import { isObject } from '../json-text.ts';
import { extractAccessLog } from './access-log.ts';
import type { Layout } from './column-lines.ts';
import { extractByLayout, extractColumns } from './column-lines.ts';
import { extractCef, extractCisco, extractLeef } from './device-lines.ts';
import { jsonObject } from './json-object.ts';
import type { Fact } from './member-facts.ts';
import { factsIn } from './member-facts.ts';
import type { Members } from './members.ts';
import { memberSet } from './members.ts';
import { findPairs } from './pairs.ts';
import type { ProgramLine } from './program-lines.ts';
import { levelIn, lineAfterTime, wholeLine } from './program-lines.ts';
import { extractSyslog, recentTime } from './syslog-fields.ts';
import { fractionMicros, leadingTime, wholeTime } from './text-time.ts';

export interface Surroundings {
  /** Microseconds; supplies the year that some formats omit. */
  readonly now: number;
  /** Of times without one. */
  readonly timezone: string;
  /** Of the lines of this source, told by a line before. */
  readonly layout?: Layout | undefined;
}

export interface Detected {
  /** Of frames and what they hold, such as `syslog, json`. */
  readonly format: string;
  /** With `event_time` when there is one. */
  readonly members: Members;
  readonly time: Fact<number> | null;
  readonly host: Fact<string> | null;
  /** The data has no member `event_time` of its own. */
  readonly isTimeDerived: boolean;
  /** The sourcetype or an extractor names the format: what is found counts more than what the client sent. */
  isChosen: boolean;
  /** Some numbers JSON.stringify would change. */
  readonly isAwkward: boolean;
}

/** What a format finds, before frames are joined with what they hold. */
export interface Found {
  readonly format: string;
  readonly members: Members;
  readonly time?: Fact<number> | null;
  readonly isAwkward?: boolean;
  /** A member, or the end of the line, that may have a format of its own. */
  readonly inner?: { readonly text: string; readonly key: string } | undefined;
  /** Members say when and where. */
  readonly hasFacts?: boolean;
}

/** Of texts that are not JSON, only the start is looked at. */
const MAX_SEARCHED = 64 * 1024;
const MAX_FRAMES = 3;
const LINE_START = 'start of the line';
const LINE_TIME = 'the line';
const DATED = /^\d{4}[-/.]\d\d/;
/** What Ruby, Redis and NATS write before the time. */
const PREFIX = /^(?:[DIWEFA], (?=\[)|(\d+):([A-Z]) |\[\d+\] (?=\d{4}\/))/;
const COLOURS = /\u001b\[[0-9;]*m/g;

export function detect(data: string, around: Surroundings): Detected | null {
  return joined(data, around, MAX_FRAMES);
}

/** Adds time and host, and what a line inside holds. */
export function finish(found: Found, around: Surroundings): Detected {
  return withInner(found, around, MAX_FRAMES);
}

function joined(data: string, around: Surroundings, frames: number): Detected | null {
  const found = formatOf(data, around);
  return found === null ? null : withInner(found, around, frames);
}

function withInner(found: Found, around: Surroundings, frames: number): Detected {
  const { members, inner, format, isAwkward = false } = found;
  const hasTime = Object.hasOwn(members, 'event_time');
  let time = found.time ?? (hasTime ? givenTime(members) : null);
  let host: Fact<string> | null = null;
  if (found.hasFacts === true) {
    const facts = factsIn(members, hasTime || time !== null ? null : around.timezone);
    time ??= facts.time;
    host = facts.host;
  }
  const held = inner === undefined || frames === 0 ? null : joined(inner.text, around, frames - 1);
  if (time !== null && !hasTime) members['event_time'] = timeText(time.value);
  const isTimeDerived = !hasTime;
  const isChosen = false;
  if (held === null) return { format, members, time, host, isTimeDerived, isAwkward, isChosen };
  const all = Object.assign(memberSet(), members);
  for (const name in held.members) {
    // The text itself gives way to what was found in it; all else of the frame stays.
    if (!Object.hasOwn(all, name) || (name === inner!.key && name !== 'log'))
      all[name] = held.members[name];
  }
  return {
    format: `${format}, ${held.format}`,
    members: all,
    isChosen,
    time: time ?? held.time,
    host: host ?? held.host,
    isTimeDerived,
    isAwkward: isAwkward || held.isAwkward,
  };
}

function givenTime({ event_time: text }: Members): Fact<number> | null {
  const value = typeof text === 'string' ? parseTime(text) : null;
  return value === null ? null : { value, key: 'event_time' };
}

function formatOf(data: string, around: Surroundings): Found | null {
  const first = data.charCodeAt(0);
  if (first <= 0x20 && data.trimStart() !== data) return formatOf(data.trimStart(), around);
  if (first === 0x7b) {
    const object = jsonObject(data);
    if (object !== null) return jsonFound(object);
  }
  let text = data.length > MAX_SEARCHED ? data.slice(0, MAX_SEARCHED) : data;
  if (text.includes('\u001b')) text = text.replace(COLOURS, '');
  return framed(text, first, around) ?? positional(text, first, around) ?? ofLine(text, around);
}

/** JSON, with the line that a collector put into a member of it. */
export function jsonFound(object: {
  readonly members: Members;
  readonly isAwkward: boolean;
}): Found {
  const { members, isAwkward } = object;
  const key = lineMember(members);
  const text = key === null ? '' : (members[key] as string);
  const inner = key === null ? undefined : { text: text.trimEnd(), key };
  const format =
    key === 'log' ? 'docker' : Object.hasOwn(members, '__REALTIME_TIMESTAMP') ? 'journald' : 'json';
  return { format, members, isAwkward, inner, hasFacts: true };
}

/** Which member holds a whole line: always JSON, other lines only in what collectors send. */
function lineMember(members: Members): string | null {
  for (const key of ['log', 'message', 'MESSAGE', 'msg', 'textPayload']) {
    const text = members[key];
    if (typeof text !== 'string') continue;
    if (text.startsWith('{') || isCollected(members, key)) return key;
  }
  return null;
}

function isCollected(members: Members, key: string): boolean {
  if (key === 'log') return 'stream' in members || 'kubernetes' in members;
  if (key === 'MESSAGE') return '__REALTIME_TIMESTAMP' in members;
  if (key !== 'message') return key === 'textPayload';
  return isObject(members['agent']) || isObject(members['log']) || 'source_type' in members;
}

/** Formats that begin with a mark of their own. */
function framed(text: string, first: number, around: Surroundings): Found | null {
  // <
  if (first === 0x3c) return syslogFound(text, around);
  // C, L
  if (first === 0x43 && text.startsWith('CEF:')) return marked('cef', extractCef(text));
  if (first === 0x4c && text.startsWith('LEEF:')) return marked('leef', extractLeef(text));
  // %, and a colon that Cisco leaves before it
  if (first === 0x25 || first === 0x3a) return marked('cisco', extractCisco(text));
  // _
  if (first === 0x5f && /^__(?:CURSOR|REALTIME_TIMESTAMP)=/.test(text)) return journalExport(text);
  return null;
}

function marked(format: string, members: Members | null): Found | null {
  return members === null ? null : { format, members, hasFacts: true };
}

export function syslogFound(text: string, around: Surroundings): Found | null {
  const members = extractSyslog(text, around.now, around.timezone);
  if (members === null) return null;
  const { message, event_time: time } = members;
  const value = typeof time === 'string' ? parseTime(time) : null;
  return {
    format: 'syslog',
    members,
    time: value === null ? null : { value, key: 'header of syslog' },
    hasFacts: true,
    inner: typeof message === 'string' ? innerOf(text, members, message) : undefined,
  };
}

/** Devices write no program before what they say, which then is taken for one. */
function innerOf(text: string, { appname }: Members, message: string): Found['inner'] {
  const isPart = typeof appname === 'string' && /^(?:CEF$|LEEF$|%|\d*,)/.test(appname);
  const from = isPart ? text.indexOf(` ${appname}`) : -1;
  return { text: from < 0 ? message : text.slice(from + 1), key: 'message' };
}

/** `KEY=value` on each line, as journalctl exports entries. */
function journalExport(text: string): Found {
  const members = memberSet();
  for (const line of text.split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0) members[line.slice(0, equals)] = line.slice(equals + 1);
  }
  return { ...jsonFound({ members, isAwkward: false }), format: 'journald' };
}

/** Access logs and columns, which only their places tell apart. */
function positional(text: string, first: number, around: Surroundings): Found | null {
  const { layout } = around;
  if (layout !== undefined) {
    const members = extractByLayout(text, layout);
    if (members !== null) return { format: layout.format, members, time: columnTime(members) };
  }
  const access = text.includes(' [') ? extractAccessLog(text) : null;
  if (access !== null) {
    const value = parseTime(access['event_time'] as string)!;
    return { format: 'access', members: access, time: { value, key: LINE_TIME } };
  }
  const isDigit = first >= 0x30 && first <= 0x39;
  const isColumns = isDigit || first === 0x2c || /^(?:https?|h2|grpcs|wss?) \d{4}-/.test(text);
  const columns = isColumns ? extractColumns(text) : null;
  return columns === null ? null : { ...columns, time: columnTime(columns.members) };
}

/** W3C logs are in UTC, whatever the zone of others. */
function columnTime(members: Members): Fact<number> | null {
  const found = factsIn(members, 'UTC').time;
  if (found !== null || typeof members['start'] !== 'number') return found;
  return { value: members['start'] * 1_000_000, key: 'start' };
}

/** A line of a program, with a time at its start or without. */
function ofLine(text: string, around: Surroundings): Found | null {
  const isDated = DATED.test(text);
  const whole = isDated ? null : wholeLine(text);
  if (whole !== null) return ofProgram(whole, timeWithin(whole, around));
  const compose = text.includes(' | ') ? /^[\w.-]+[-_]\d+ +\| /.exec(text)?.[0] : undefined;
  if (compose !== undefined) {
    const members = Object.assign(memberSet(), { container: compose.slice(0, -2).trim() });
    return { format: 'compose', members, inner: { text: text.slice(compose.length), key: '' } };
  }
  const prefix = isDated ? null : PREFIX.exec(text);
  const body = prefix === null ? text : text.slice(prefix[0].length);
  const time = leadingTime(body, around.timezone);
  if (time === null) {
    const old = /^[A-Z][a-z]{2} [ \d]\d \d\d:/.test(text) ? syslogFound(text, around) : null;
    return old ?? ofPairs(text);
  }
  const rest = body.slice(time.end);
  const fact = { value: time.micros, key: LINE_START };
  const line = lineAfterTime(rest);
  if (line !== null) {
    // Redis writes its process and role before the time.
    if (prefix?.[1] !== undefined)
      Object.assign(line.members, { pid: Number(prefix[1]), role: prefix[2] });
    return ofProgram(line, fact);
  }
  if (time.isRfc3339) {
    const header = /^([\w.:-]+) ([\w./@-]+)(?:\[(\d+)\])?: (.*)$/s.exec(rest);
    if (header !== null && levelIn(header[1]!) === null && levelIn(header[2]!) === null) {
      const [, hostname, appname, procid, message] = header;
      const members = Object.assign(memberSet(), { hostname, appname, message });
      if (procid !== undefined) members['procid'] = procid;
      const inner = { text: message!, key: 'message' };
      return { format: 'syslog', members, time: fact, hasFacts: true, inner };
    }
  }
  const level = levelIn(rest);
  const cisco = rest.includes('%') ? extractCisco(rest) : null;
  if (cisco !== null) return { format: 'cisco', members: cisco, time: fact, hasFacts: true };
  // Some programs write their fields as JSON behind the message.
  const object = rest.startsWith('{') ? 0 : rest.endsWith('}') ? rest.indexOf(' {"') + 1 : -1;
  if (object > 0 || rest.startsWith('{') || rest.startsWith('CEF:')) {
    const inner = { text: rest.slice(Math.max(object, 0)), key: '' };
    return { format: 'text', members: withLevel(memberSet(), level), time: fact, inner };
  }
  return { format: 'text', members: withLevel(findPairs(rest) ?? memberSet(), level), time: fact };
}

function withLevel(members: Members, level: string | null): Members {
  if (level !== null && members['level'] === undefined) members['level'] = level;
  return members;
}

/** Pairs that the sourcetype promised, with the time before them. */
export function lineFound(
  members: Members | null,
  data: string,
  { timezone }: Surroundings,
): Found | null {
  if (members === null) return null;
  const { time } = factsIn(members, timezone);
  if (time !== null) return { format: 'pairs', members, time, hasFacts: true };
  const start = leadingTime(data, timezone);
  const fact = start === null ? null : { value: start.micros, key: LINE_START };
  return { format: 'pairs', members, time: fact, hasFacts: true };
}

function ofPairs(text: string): Found | null {
  const audit = /(?:msg=)?audit\((\d{10})\.(\d{1,9}):(\d+)\): ?/.exec(text);
  const pairs = audit === null ? text : text.replace(audit[0], '').replace(/ msg='|'\s*$/g, ' ');
  const members = findPairs(pairs);
  if (members === null) return null;
  if (audit === null) return { format: 'pairs', members, hasFacts: true };
  members['serial'] = Number(audit[3]);
  const value = Number(audit[1]) * 1_000_000 + fractionMicros(audit[2]);
  return { format: 'audit', members, time: { value, key: 'audit(…)' }, hasFacts: true };
}

function ofProgram({ format, members, rest }: ProgramLine, time: Fact<number> | null): Found {
  return { format, members, time, inner: rest === '' ? undefined : { text: rest, key: '' } };
}

/** Of lines that do not begin with it. */
function timeWithin({ format, time }: ProgramLine, around: Surroundings): Fact<number> | null {
  if (time === undefined) return null;
  const klog = format === 'klog' ? /^(..)(..) (..):(..):(..)\.(.+)$/.exec(time) : null;
  if (klog === null) {
    const value = wholeTime(time, around.timezone);
    return value === null ? null : { value, key: LINE_TIME };
  }
  const [month, ...parts] = klog.slice(1, 6).map(Number);
  const value = recentTime([month! - 1, ...parts], around.now, 'UTC');
  return value === null ? null : { value: value + fractionMicros(klog[6]), key: LINE_TIME };
}
