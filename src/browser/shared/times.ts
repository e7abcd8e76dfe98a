/**
 * Times and numbers in the reader's zone and locale. The server sends UTC and plain digits, which
 * remain without script.
 */
import { sizeText } from '../../base/text/size-text.ts';
import { isShownTwice } from './moment-box.ts';

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** With the zone's name, which distinguishes the two hours when clocks go back. */
const exactMoment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const number = new Intl.NumberFormat();

/** Right-to-left letters would reorder the text beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff]/;

export function localTime(date: Date): string {
  return isolated((isShownTwice(date) ? exactMoment : moment).format(date));
}

/** The server's format of a moment. */
const SERVER_FORM =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** UTC where the text has no offset; null for no time. */
export function serverMoment(text: string): Date | null {
  const [, date, clock = '00:00', zone = 'Z'] = SERVER_FORM.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const [, hours = '', minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offset = hours === '' ? 'Z' : `${hours}:${minutes}`;
  const moment = new Date(`${date}T${clock.replace(',', '.')}${offset}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** The UTC day the server counts by. */
export function serverDay(date: Date): string {
  return isolated(utcDay.format(date));
}

export function isFarFromServer(date: Date): boolean {
  return date.getTimezoneOffset() !== 0;
}

function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** Short, for lists: the time if today, else the day. */
function shortTime(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return isolated((isToday ? clock : day).format(date));
}

export function localNumber(value: number): string {
  return number.format(value);
}

export function localSize(bytes: number): string {
  return sizeText(bytes, localNumber);
}

/**
 * Rewrites `<time datetime>` (short with class `when`), `<data class="count" value>` and `<data
 * class="size" value>`.
 */
export function localise(within: ParentNode): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title = element.dateTime;
    const isShort = element.classList.contains('when');
    element.textContent = isShort ? shortTime(date) : localTime(date);
  }
  for (const element of within.querySelectorAll<HTMLDataElement>('data.count')) {
    element.textContent = localNumber(Number(element.value));
  }
  for (const element of within.querySelectorAll<HTMLDataElement>('data.size')) {
    element.textContent = localSize(Number(element.value));
  }
}
