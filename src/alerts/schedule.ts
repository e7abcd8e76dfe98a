/**
 * When an alert runs: `every 5m`, counted from the epoch so that restarts change nothing, or five fields of cron on the
 * clocks of a zone. A time that the clocks skip counts on from the change; one they show twice is met once by a fixed
 * hour and twice by `*`.
 */
import { Cron } from 'croner';
import { Lru } from '../base/lru.ts';
import { TimeZone } from '../base/time-zone.ts';

/** Milliseconds of the epoch throughout. */
export interface Schedule {
  /** The first one after that. */
  after(ms: number): number;
  /**
   * The last one that is not after `now`, and how many lie from `first`, which is one, up to it without it. Beyond
   * `MAX_COUNTED` the count stops.
   */
  latest(first: number, now: number): { readonly slot: number; readonly missed: number };
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** Each of them costs 30 µs. */
const MAX_COUNTED = 1_000;
const MIN_EVERY_MS = 10_000;
const MAX_EVERY_MS = 366 * UNITS['d']!;
const FIELDS = 5;

/** `30s`, `5m`, `24h`, `7d`, `1w`; null for anything else. */
export function durationMs(text: string): number | null {
  const match = /^(\d{1,6})(s|m|h|d|w)$/.exec(text.trim());
  return match === null ? null : Number(match[1]) * UNITS[match[2]!]!;
}

/** Why it is none, and what would be right. */
export class BadSchedule extends Error {}

const known = new Lru<string, Schedule>(2_000);

/** Throws BadSchedule. */
export function scheduleOf(text: string, zone: string): Schedule {
  const key = `${zone}\n${text}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const every = /^\s*every\s+(.*)$/i.exec(text);
  const schedule = every === null ? cron(text, zone) : interval(every[1]!);
  known.set(key, schedule);
  return schedule;
}

function interval(text: string): Schedule {
  const every = durationMs(text);
  if (every === null)
    throw new BadSchedule(
      `'${text}' is no interval; write for example every 5m, every 1h, every 1d`,
    );
  if (every < MIN_EVERY_MS || every > MAX_EVERY_MS)
    throw new BadSchedule('an interval has 10 seconds at least and 366 days at most');
  const floor = (ms: number): number => Math.floor(ms / every) * every;
  return {
    after: (ms) => floor(ms) + every,
    latest: (first, now) => {
      const slot = Math.max(first, floor(now));
      return { slot, missed: Math.round((slot - first) / every) };
    },
  };
}

function cron(text: string, zone: string): Schedule {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS || text.trim().startsWith('@'))
    throw new BadSchedule(
      `'${text}' has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}; cron takes five: minute, hour, day of month, month, day of week, such as */15 8-18 * * mon-fri; or write every 5m`,
    );
  if (TimeZone.named(zone) === null || /^[+-]/.test(zone))
    throw new BadSchedule(`'${zone}' is no time zone; write UTC or a name such as Europe/Vienna`);
  let pattern: Cron;
  try {
    pattern = new Cron(fields.join(' '), { timezone: zone, paused: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern:\s*/, '') : '';
    throw new BadSchedule(
      `'${text}' is no cron line: ${reason}; minutes are 0-59, hours 0-23, days 1-31, months 1-12 or jan-dec, days of the week 0-7 or sun-sat`,
    );
  }
  const after = (ms: number): number | null => pattern.nextRun(new Date(ms))?.getTime() ?? null;
  if (after(Date.UTC(2000, 0)) === null)
    throw new BadSchedule(`'${text}' never comes: there is no such day`);
  const next = (ms: number): number => after(ms) ?? Number.MAX_SAFE_INTEGER;
  return {
    after: next,
    latest: (first, now) => {
      let slot = first;
      let missed = 0;
      for (let following = next(slot); following <= now; following = next(slot)) {
        slot = following;
        missed++;
        if (missed < MAX_COUNTED) continue;
        slot = pattern.previousRuns(1, new Date(now + 1))[0]?.getTime() ?? slot;
        break;
      }
      return { slot, missed };
    },
  };
}
