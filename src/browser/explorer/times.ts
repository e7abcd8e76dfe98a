/**
 * The time of a query: a span back from now, or two moments in the reader's local time. The address names
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

/** What a mark on a chart stands for; it wins over the boxes. */
let marked: readonly [from: Date, to: Date] | null = null;

export function startTimes(form: HTMLFormElement, explorer: HTMLElement): void {
  for (const zone of form.querySelectorAll('.zone')) zone.textContent = '(your time)';
  const { earliest = '', latest = '' } = explorer.dataset;
  const picker = form.querySelector<HTMLDetailsElement>('#time')!;
  const summary = picker.querySelector('summary')!;
  for (const button of spanButtons(form))
    button.textContent = spanText(spanIn(button), button.textContent);
  const { span = '' } = summary.dataset;
  summary.textContent = textOfSpan(form, span, summary.textContent ?? '');
  summary.setAttribute('aria-label', `Time: ${summary.textContent}`);
  addOwnZone(form);
  const boxes = SIDES.map(([name]) => boxOf(form, name));
  // Opening shows two moments as a start for others; closed, the boxes would override what is pressed.
  picker.addEventListener('toggle', () => {
    const ends = picker.open ? [earliest, latest] : ['', ''];
    boxes.forEach((box, index) => {
      // This runs a moment after the opening: do not overwrite what is being typed.
      if (!picker.open || box.value === '') putMoment(box, serverMoment(ends[index]!));
    });
  });
  form.addEventListener('formdata', ({ formData }) => {
    const [earliest, latest] = endsIn(form, formData);
    for (const name of ['span', 'last', 'unit', 'from', 'to', 'latest']) formData.delete(name);
    formData.set('earliest', earliest);
    if (latest !== '') formData.set('latest', latest);
    if (formData.get('timezone') === 'UTC') formData.delete('timezone');
    if (formData.get('refresh') === '') formData.delete('refresh');
  });
}

function endsIn(
  form: HTMLFormElement,
  data: FormData,
): readonly [earliest: string, latest: string] {
  const value = (name: string): string => String(data.get(name) ?? '');
  if (marked !== null) return [marked[0].toISOString(), marked[1].toISOString()];
  if (data.has('span')) return endsOf(value('span') === 'all' ? '' : value('span'));
  if (value('last') !== '') return [`-${value('last')}${value('unit')}`, ''];
  const between = SIDES.map(([name, side]) => momentIn(boxOf(form, name), side));
  if (between.some((moment) => moment !== null)) {
    const [from = '', to = ''] = between.map((moment) => moment?.toISOString() ?? '');
    return [from, to];
  }
  return [value('earliest'), value('latest')];
}

function endsOf(span: string): readonly [earliest: string, latest: string] {
  const [earliest = '', latest = ''] = span.split('..');
  return [earliest, latest];
}

export function setSpan(form: HTMLFormElement, from: Date, to: Date): void {
  chooseSpan(from, to);
  form.requestSubmit();
}

/** For the next search. */
export function chooseSpan(from: Date, to: Date): void {
  marked = [from, to];
}

export function spanName(form: HTMLFormElement, query: URLSearchParams): string {
  const [earliest, latest] = [query.get('earliest') ?? '', query.get('latest') ?? ''];
  const span = latest === '' ? earliest : `${earliest}..${latest}`;
  return textOfSpan(form, span, span);
}

function textOfSpan(form: HTMLFormElement, span: string, otherwise: string): string {
  const known = spanButtons(form).find((button) => spanIn(button) === span);
  return known?.textContent?.trim() ?? spanText(span, otherwise);
}

function spanButtons(form: HTMLFormElement): HTMLButtonElement[] {
  return [...form.querySelectorAll<HTMLButtonElement>('button[name=span]')];
}

function spanIn({ value }: HTMLButtonElement): string {
  return value === 'all' ? '' : value;
}

function addOwnZone(form: HTMLFormElement): void {
  const select = form.querySelector<HTMLSelectElement>('select[name=timezone]');
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (select === null || [...select.options].some(({ value }) => value === timeZone)) return;
  select.append(new Option(timeZone, timeZone));
}

function boxOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.querySelector<HTMLInputElement>(`input[name=${name}]`)!;
}

/** Moments in the reader's zone; relative times as the server names them. */
function spanText(span: string, otherwise: string): string {
  const ends = span.split('..');
  if (ends.every((end) => serverMoment(end) === null)) {
    return SNAPPED.test(span) && isFarFromServer(new Date()) ? `${otherwise} (UTC)` : otherwise;
  }
  const [earliest = '', latest = ''] = ends.map(endText);
  if (latest === '') return `From ${earliest}`;
  return earliest === '' ? `Until ${latest}` : `${earliest} – ${latest}`;
}

function endText(end: string): string {
  const moment = serverMoment(end);
  return moment === null ? end : localTime(moment);
}
