/**
 * Times and numbers as the reader writes them. The server sends UTC and plain digits, which is what stays without script.
 */
import { sizeText } from '../../base/size-text.ts';

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const number = new Intl.NumberFormat();

/** A time in the reader's zone. */
export function localTime(date: Date): string {
  return moment.format(date);
}

/** A moment in few letters, for lists: the time of today, the day of everything else. */
function shortTime(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clock : day).format(date);
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
