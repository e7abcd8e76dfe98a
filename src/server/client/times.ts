/**
 * Times and numbers as the reader writes them. The server sends UTC and plain digits, which is what stays without script.
 */

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const number = new Intl.NumberFormat();

/** A time in the reader's zone. */
export function localTime(date: Date): string {
  return moment.format(date);
}

/** A number in the reader's locale. */
export function localNumber(value: number): string {
  return number.format(value);
}

/** Rewrites every `<time datetime>` and `<data class="count" value>` below an element. */
export function localise(within: ParentNode): void {
  for (const element of within.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title = element.dateTime;
    element.textContent = localTime(date);
  }
  for (const element of within.querySelectorAll<HTMLDataElement>('data.count')) {
    element.textContent = localNumber(Number(element.value));
  }
}
