/**
 * Microseconds since 1970, as the event store keeps times, and the form of SL-13.
 */
import { msOf } from './time.ts';

let lastMinute = Number.NaN;
let lastText = '';

/** The time in the form of SL-13. Rows come in order of time, so the minute is mostly that of the row before. */
export function timeFromMicros(micros: number): string {
  const minute = Math.floor(micros / 60_000_000);
  if (minute !== lastMinute) {
    lastText = new Date(minute * 60_000).toISOString().slice(0, 17);
    lastMinute = minute;
  }
  const rest = micros - minute * 60_000_000;
  const digits = String(rest).padStart(8, '0');
  return `${lastText}${digits.slice(0, 2)}.${digits.slice(2)}Z`;
}

/** Microseconds since 1970 of a time in the form of SL-13. */
export function microsOf(time: string): number {
  return msOf(time) * 1000 + Number(time.slice(23, 26));
}
