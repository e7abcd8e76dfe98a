/** When and where an event happened, by the members that programs use for it. */
import { JsonNumber } from '../../../base/json/json.ts';
import { cutMicros, isInRange } from '../../event-time.ts';
import { isObject } from '../json-text.ts';
import type { Members } from './members.ts';
import { wholeTime } from './text-time.ts';

/** A value and the member it comes from. */
export interface Fact<Value> {
  readonly value: Value;
  readonly key: string;
}

/** The first that holds a time counts. */
const TIME_KEYS = [
  ...['@timestamp', 'timestamp', 'time', 'ts', 'eventTime', 'date', '_time'],
  ...['__REALTIME_TIMESTAMP', '@t', 't', 'Timestamp', 'timeStamp', 'TimeStamp', 'eventtime'],
  ...['datetime', 'dateTime', 'asctime', 'time_iso8601', 'time_local', 'start_time', 'StartUTC'],
  ...['instant', 'timeMillis', 'TimeGenerated', 'TimeCreated', 'event_timestamp', 'logTime'],
  ...['requestReceivedTimestamp', 'rt', 'devTime', 'generated_time'],
];
const HOST_KEYS = [
  ...['_HOSTNAME', 'host.name', 'host.hostname', 'host', 'hostname', 'HOSTNAME', 'Hostname'],
  ...['MachineName', 'Computer', 'computer', 'dvchost', 'devname', 's-computername'],
  ...['kubernetes.node.name', 'kubernetes', 'agent.hostname', 'agent'],
];
interface Rank {
  readonly isTime: boolean;
  readonly rank: number;
}
const ranks = (names: readonly string[], isTime: boolean): [string, Rank][] =>
  names.map((name, rank) => [name, { isTime, rank }]);
const RANKS: ReadonlyMap<string, Rank> = new Map([
  ...ranks(TIME_KEYS, true),
  ...ranks(HOST_KEYS, false),
]);
/** Where the name of the host stands when the member is an object. */
const HOST_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  host: ['name', 'hostname'],
  kubernetes: ['host', 'node_name'],
  agent: ['hostname'],
};
const DAY = /^\d{4}[-/]\d\d[-/]\d\d$/;
const CLOCK = /^\d\d:\d\d:\d\d/;
const NUMBER = /^\d{9,19}(?:\.\d+)?$/;
/** 1973 to 5138 in seconds; shorter numbers are amounts. Each unit has three digits more. */
const LEAST_SECONDS = 1e8;
const UNITS = 1e11;
const HOST_NAME = /^[A-Za-z0-9_:[][^\s"'<>{}/\\]{0,254}$/;

/** `timezone`: of times without one; null: only the host is wanted. */
export function factsIn(
  members: Members,
  timezone: string | null,
): { readonly time: Fact<number> | null; readonly host: Fact<string> | null } {
  let [timeRank, hostRank] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let time: Fact<number> | null = null;
  let host: Fact<string> | null = null;
  for (const key in members) {
    const known = RANKS.get(key);
    if (known === undefined) continue;
    if (known.isTime) {
      if (timezone === null || known.rank > timeRank) continue;
      const value = timeOf(members[key], timezone) ?? dayAndClock(key, members, timezone);
      if (value === null) continue;
      timeRank = known.rank;
      time = { value, key };
    } else if (known.rank < hostRank) {
      const found = hostOf(key, members[key]);
      if (found === null) continue;
      hostRank = known.rank;
      host = found;
    }
  }
  return { time, host };
}

function hostOf(key: string, member: unknown): Fact<string> | null {
  if (!isObject(member)) return isHost(member) ? { value: member, key } : null;
  for (const name of HOST_MEMBERS[key] ?? []) {
    const value = member[name];
    if (isHost(value)) return { value, key: `${key}.${name}` };
  }
  return null;
}

function isHost(value: unknown): value is string {
  return typeof value === 'string' && HOST_NAME.test(value);
}

function timeOf(value: unknown, timezone: string): number | null {
  if (typeof value === 'string')
    return NUMBER.test(value) ? epochMicros(value) : wholeTime(value, timezone);
  if (typeof value === 'number' || typeof value === 'bigint') return epochMicros(String(value));
  if (value instanceof JsonNumber) return epochMicros(value.source);
  if (!isObject(value)) return null;
  // MongoDB and log4j write objects.
  if (typeof value['$date'] === 'string') return wholeTime(value['$date'], timezone);
  const { epochSecond, nanoOfSecond } = value;
  if (typeof epochSecond !== 'number' || typeof nanoOfSecond !== 'number') return null;
  return epochSecond * 1_000_000 + Math.floor(nanoOfSecond / 1000);
}

/** Seconds, milliseconds, microseconds or nanoseconds, by the size of the number. */
export function epochMicros(text: string): number | null {
  const amount = Number(text);
  if (!(amount >= LEAST_SECONDS)) return null;
  let micros: number;
  if (amount < UNITS) micros = cutMicros(text, 6);
  else if (amount < UNITS * 1e3) micros = cutMicros(text, 3);
  else if (amount < UNITS * 1e6) micros = Math.floor(amount);
  else if (/^\d+$/.test(text)) micros = Number(text.slice(0, -3));
  else micros = Math.floor(amount / 1000);
  return isInRange(micros) ? micros : null;
}

/** Some devices write the day and the time of day in two members, and perhaps their offset in a third. */
function dayAndClock(key: string, members: Members, timezone: string): number | null {
  if (key !== 'date' && key !== 'time') return null;
  const { date, time, tz } = members;
  if (typeof date !== 'string' || typeof time !== 'string' || !DAY.test(date) || !CLOCK.test(time))
    return null;
  return wholeTime(`${date} ${time}${typeof tz === 'string' ? tz : ''}`, timezone);
}
