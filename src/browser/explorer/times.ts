/**
 * The time range of a query: a preset, or two moments in the reader's local time. The address names
 * both ends.
 */
import { momentIn, putMoment, type Side } from '../shared/moment-box.ts';
import { isFarFromServer, localTime, serverMoment } from '../shared/times.ts';

const SIDES: readonly (readonly [name: string, side: Side])[] = [
  ['from', 'start'],
  ['to', 'end'],
];
/** Snapped to a day, week, month, quarter or year, which begin in UTC on the server. */
const SNAPPED = /@(?:d|w|mon|q|y)\b/;

export function startTimes(form: HTMLFormElement, explorer: HTMLElement): void {
  for (const zone of form.querySelectorAll('.zone')) zone.textContent = '(your time)';
  const { earliest = '', latest = '' } = explorer.dataset;
  const select = form.querySelector<HTMLSelectElement>('select[name=earliest]')!;
  for (const option of select.options) option.textContent = spanText(option);
  const boxes = SIDES.map(([name]) => boxOf(form, name));
  select.addEventListener('change', () => {
    for (const box of boxes) box.value = '';
    form.requestSubmit();
  });
  // Opening shows the present span, a start for another; closing empties the boxes, which would
  // override the preset.
  form
    .querySelector('.between')
    ?.closest('details')
    ?.addEventListener('toggle', (event) => {
      const isOpen = (event.target as HTMLDetailsElement).open;
      const ends = isOpen ? [earliest, latest] : ['', ''];
      boxes.forEach((box, index) => {
        // This runs a moment after the opening: do not overwrite what is being typed.
        if (!isOpen || box.value === '') putMoment(box, serverMoment(ends[index]!));
      });
    });
  form.addEventListener('formdata', ({ formData }) => {
    const between = SIDES.map(([name, side]) => momentIn(boxOf(form, name), side));
    for (const [name] of SIDES) formData.delete(name);
    const ends = between.some((moment) => moment !== null)
      ? between.map((moment) => moment?.toISOString() ?? '')
      : String(formData.get('earliest') ?? '').split('..');
    const [earliest = '', latest = ''] = ends;
    formData.set('earliest', earliest);
    if (latest !== '') formData.set('latest', latest);
  });
}

export function setSpan(form: HTMLFormElement, from: Date, to: Date): void {
  chooseSpan(form, from, to);
  form.requestSubmit();
}

/** For the next search. */
export function chooseSpan(form: HTMLFormElement, from: Date, to: Date): void {
  const select = form.querySelector<HTMLSelectElement>('select[name=earliest]')!;
  for (const name of ['from', 'to']) boxOf(form, name).value = '';
  select.append(new Option('', `${from.toISOString()}..${to.toISOString()}`, true, true));
}

export function spanName(form: HTMLFormElement, query: URLSearchParams): string {
  const [earliest, latest] = [query.get('earliest') ?? '', query.get('latest') ?? ''];
  const value = latest === '' ? earliest : `${earliest}..${latest}`;
  const options = [...form.querySelectorAll<HTMLOptionElement>('select[name=earliest] option')];
  const known = options.find((option) => option.value === value)?.textContent?.trim();
  return known ?? spanText({ value, textContent: value });
}

function boxOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.querySelector<HTMLInputElement>(`input[name=${name}]`)!;
}

/** Moments in the reader's zone; relative times as the server names them. */
function spanText({
  value,
  textContent,
}: Pick<HTMLOptionElement, 'value' | 'textContent'>): string {
  const ends = value.split('..');
  if (ends.every((end) => serverMoment(end) === null)) {
    return SNAPPED.test(value) && isFarFromServer(new Date())
      ? `${textContent} (UTC)`
      : (textContent ?? '');
  }
  const [earliest = '', latest = ''] = ends.map(endText);
  if (latest === '') return `From ${earliest}`;
  return earliest === '' ? `Until ${latest}` : `${earliest} – ${latest}`;
}

function endText(end: string): string {
  const moment = serverMoment(end);
  return moment === null ? end : localTime(moment);
}
