/**
 * Boxes for moments (`datetime-local`). They hold what the reader's clock shows, without its offset: of an hour that comes twice
 * when the clock is put back a box cannot say which, and an hour that is left out is no moment at all.
 */

const MINUTE_MS = 60_000;
/** Clocks are changed by an hour or less, and not twice within this. */
const NEAR_MS = 3 * 3_600_000;

/** Where of a span of time a box stands. */
export type Side = 'start' | 'end';

const put = new WeakMap<HTMLInputElement, { readonly text: string; readonly moment: Date }>();

/** Shows a moment in a box; null empties it. */
export function putMoment(box: HTMLInputElement, moment: Date | null): void {
  box.value = moment === null ? '' : clockText(moment);
  if (moment !== null) put.set(box, { text: box.value, moment });
}

/**
 * The moment that a box shows; null for an empty one. What `putMoment` showed and nobody changed is that moment, to the
 * millisecond. Of an hour that comes twice a start means its first, an end its second; in one left out both mean its end.
 */
export function momentIn(box: HTMLInputElement, side: Side): Date | null {
  const shown = put.get(box);
  if (shown !== undefined && shown.text === box.value) return shown.moment;
  return momentOf(box.value, side);
}

/** As `momentIn`, of a text such as `2026-10-25T02:30`. */
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

/** Whether the reader's clock shows this time twice on its day. */
export function isShownTwice(moment: Date): boolean {
  const back = setBackAround(moment);
  if (back <= 0) return false;
  const text = clockText(moment);
  return [back, -back].some((ms) => clockText(new Date(moment.getTime() + ms)) === text);
}

/** By how many ms the clock is put back within the hours around a moment; 0 or less where it is not. */
function setBackAround(moment: Date): number {
  const [before, after] = [-NEAR_MS, NEAR_MS].map((ms) =>
    new Date(moment.getTime() + ms).getTimezoneOffset(),
  );
  return (after! - before!) * MINUTE_MS;
}

/** The last time before a moment at which the clock was put forward. */
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

/** What the clock shows, as a box wants it. */
function clockText(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 19);
}
