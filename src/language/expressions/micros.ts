import { msOf } from './time.ts';

let lastMinute = Number.NaN;
let lastText = '';

/** Rows come in order of time, so the minute is mostly that of the previous row. */
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

export function microsOf(time: string): number {
  return msOf(time) * 1000 + Number(time.slice(23, 26));
}
