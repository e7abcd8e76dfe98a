/**
 * Times and numbers as the reader writes them. The server sends UTC and plain digits, which is what stays without script.
 */
import { sizeText } from '../../base/size-text.ts';
import { isShownTwice } from './moment-box.ts';

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** With the name of the zone, which tells the two hours apart when the clock is put back. */
const exactMoment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const utcDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const number = new Intl.NumberFormat();

/** Letters that are written from right to left would carry what stands beside them along. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff]/;

/** A time in the reader's zone. */
export function localTime(date: Date): string {
  return isolated((isShownTwice(date) ? exactMoment : moment).format(date));
}

/** EV-2. */
const SERVER_FORM =
  /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*([Zz]|[+-]\d\d(?::?\d\d)?)?)?$/;

/** The moment that a time of an event or an address means, which is UTC where it says nothing else; null for no such time. */
export function serverMoment(text: string): Date | null {
  const [, date, clock = '00:00', zone = 'Z'] = SERVER_FORM.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  const [, hours = '', minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offset = hours === '' ? 'Z' : `${hours}:${minutes}`;
  const moment = new Date(`${date}T${clock.replace(',', '.')}${offset}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** The day of a moment that the server counts from: it has days of UTC. */
export function serverDay(date: Date): string {
  return isolated(utcDay.format(date));
}

/** Whether days begin elsewhere than on the server. */
export function isFarFromServer(date: Date): boolean {
  return date.getTimezoneOffset() !== 0;
}

function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** A moment in few letters, for lists: the time of today, the day of everything else. */
function shortTime(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return isolated((isToday ? clock : day).format(date));
}

/** A number in the reader's locale. */
export function localNumber(value: number): string {
  return number.format(value);
}

/** A number of bytes in the reader's locale: `1,5 MiB`. */
export function localSize(bytes: number): string {
  return sizeText(bytes, localNumber);
}

/** Rewrites every `<time datetime>` (with the class `when`: in few letters), `<data class="count" value>` and `<data class="size" value>` below an element. */
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
