/** Serial numbers of the 1900 system, from 1 March 1900 on: before it, programs differ by a day. */
import type { Call, Functions } from '../call.ts';
import { fail, leave } from '../operands.ts';

const DAY_MS = 86_400_000;
const EPOCH = Date.UTC(1899, 11, 30);
const FIRST = 61;
/** 9999-12-31. */
const LAST = 2_958_465;

function serial(year: number, month: number, day: number): number {
  // Date.UTC takes years below 100 as 19xx.
  const date = new Date(Date.UTC(2000, month, day));
  date.setUTCFullYear(year, month, day);
  return within((date.getTime() - EPOCH) / DAY_MS);
}

function within(day: number): number {
  if (day < 0 || day >= LAST + 1) fail('#NUM!');
  return day < FIRST ? leave('a day before March 1900') : day;
}

function dayAt(call: Call, index: number): Date {
  call.requireDates1900();
  if (!call.has(index)) leave('a date that is missing');
  const value = call.scalar(index);
  if (typeof value !== 'number') leave('a date that is no number');
  return new Date(EPOCH + Math.floor(within(value as number)) * DAY_MS);
}

/** Seconds of the day, rounded. */
function secondsAt(call: Call): number {
  const value = call.number(0);
  if (value < 0) fail('#NUM!');
  return Math.round((value - Math.floor(value)) * 86_400) % 86_400;
}

function monthsLater(call: Call, isEnd: boolean): number {
  call.require(2);
  const date = dayAt(call, 0);
  const month = date.getUTCMonth() + call.integer(1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return serial(date.getUTCFullYear(), month, isEnd ? last : Math.min(last, date.getUTCDate()));
}

function weekday(call: Call): number {
  call.require(1, 2);
  const day = dayAt(call, 0).getUTCDay();
  const kind = call.integer(1, 1);
  if (kind === 1) return day + 1;
  if (kind === 2) return ((day + 6) % 7) + 1;
  if (kind === 3) return (day + 6) % 7;
  return leave('another first day of the week');
}

/** Whole years or months between two days, or the days. */
function difference(call: Call): number {
  call.require(3);
  const [from, to] = [dayAt(call, 0), dayAt(call, 1)];
  if (from > to) fail('#NUM!');
  const unit = call.text(2).toUpperCase();
  if (unit === 'D') return (to.getTime() - from.getTime()) / DAY_MS;
  const isShort = to.getUTCDate() < from.getUTCDate();
  const years = to.getUTCFullYear() - from.getUTCFullYear();
  const months = years * 12 + to.getUTCMonth() - from.getUTCMonth() - (isShort ? 1 : 0);
  if (unit === 'M') return months;
  return unit === 'Y' ? Math.floor(months / 12) : leave(`DATEDIF in ${unit}`);
}

export const dates: Functions = {
  DATE: (call) => {
    call.require(3);
    call.requireDates1900();
    const year = call.integer(0);
    if (year < 1900 || year > 9999) leave('a year of two digits');
    return serial(year, call.integer(1) - 1, call.integer(2));
  },
  YEAR: (call) => dayAt(call, 0).getUTCFullYear(),
  MONTH: (call) => dayAt(call, 0).getUTCMonth() + 1,
  DAY: (call) => dayAt(call, 0).getUTCDate(),
  HOUR: (call) => Math.floor(secondsAt(call) / 3600),
  MINUTE: (call) => Math.floor(secondsAt(call) / 60) % 60,
  SECOND: (call) => secondsAt(call) % 60,
  TIME: (call) => {
    call.require(3);
    const seconds = call.integer(0) * 3600 + call.integer(1) * 60 + call.integer(2);
    return seconds < 0 ? fail('#NUM!') : (seconds % 86_400) / 86_400;
  },
  WEEKDAY: weekday,
  EDATE: (call) => monthsLater(call, false),
  EOMONTH: (call) => monthsLater(call, true),
  DAYS: (call) => (dayAt(call, 0).getTime() - dayAt(call, 1).getTime()) / DAY_MS,
  DATEDIF: difference,
};
