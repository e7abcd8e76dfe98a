/**
 * `datetime-local` boxes show local time without an offset: when clocks go back an hour is
 * ambiguous, and when they go forward an hour does not exist.
 */

const MINUTE_MS = 60_000;
/** Clocks change by an hour or less, and not twice within this. */
const NEAR_MS = 3 * 3_600_000;

export type Side = 'start' | 'end';

const put = new WeakMap<HTMLInputElement, { readonly text: string; readonly moment: Date }>();

export function putMoment(box: HTMLInputElement, moment: Date | null): void {
  box.value = moment === null ? '' : clockText(moment);
  if (moment !== null) put.set(box, { text: box.value, moment });
}

/**
 * Null for an empty box. An unchanged box returns the exact moment `putMoment` got, to the
 * millisecond. In an ambiguous hour a start means the first occurrence, an end the second; in a
 * skipped hour both mean its end.
 */
export function momentIn(box: HTMLInputElement, side: Side): Date | null {
  const shown = put.get(box);
  if (shown !== undefined && shown.text === box.value) return shown.moment;
  return momentOf(box.value, side);
}

export function momentOf(text: string, side: Side): Date | null {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return null;
  if (!clockText(moment).startsWith(text.slice(0, 'YYYY-MM-DDTHH:MM'.length))) {
    return changeBefore(moment);
  }
  if (side === 'start') return moment;
  const again = new Date(moment.getTime() + setBackAround(moment));
  return clockText(again) === clockText(moment) ? again : moment;
}

/** Whether local clocks show this time twice that day. */
export function isShownTwice(moment: Date): boolean {
  const back = setBackAround(moment);
  if (back <= 0) return false;
  const text = clockText(moment);
  return [back, -back].some((ms) => clockText(new Date(moment.getTime() + ms)) === text);
}

/** By how many ms clocks go back within hours of a moment; 0 or less if they do not. */
function setBackAround(moment: Date): number {
  const [before, after] = [-NEAR_MS, NEAR_MS].map((ms) =>
    new Date(moment.getTime() + ms).getTimezoneOffset(),
  );
  return (after! - before!) * MINUTE_MS;
}

/** The last time before a moment at which clocks went forward. */
function changeBefore(moment: Date): Date {
  let [low, high] = [moment.getTime() - NEAR_MS, moment.getTime()];
  const after = moment.getTimezoneOffset();
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (new Date(middle).getTimezoneOffset() === after) high = middle;
    else low = middle;
  }
  return new Date(high);
}

function clockText(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 19);
}
