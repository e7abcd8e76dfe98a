/**
 * The span of time of a query: chosen, or between two moments of the reader's own time. The address says both ends by name.
 */
import { localTime } from './times.ts';

/** Makes the choice search at once, and everything about times the reader's own zone. */
export function startTimes(form: HTMLFormElement, explorer: HTMLElement): void {
  for (const zone of form.querySelectorAll('.zone')) zone.textContent = '(your time)';
  const { earliest = '', latest = '' } = explorer.dataset;
  const select = form.querySelector<HTMLSelectElement>('select[name=earliest]')!;
  for (const option of select.options) option.textContent = spanText(option);
  const boxes = ['from', 'to'].map((name) => boxOf(form, name));
  select.addEventListener('change', () => {
    for (const box of boxes) box.value = '';
    form.requestSubmit();
  });
  // What is shown is where another span begins; a closed box would win over the choice.
  form
    .querySelector('.between')
    ?.closest('details')
    ?.addEventListener('toggle', (event) => {
      const isOpen = (event.target as HTMLDetailsElement).open;
      const ends = isOpen ? [earliest, latest] : ['', ''];
      boxes.forEach((box, index) => {
        // Somebody may be typing already: this comes a moment after the opening.
        if (!isOpen || box.value === '') box.value = boxText(ends[index]!);
      });
    });
  form.addEventListener('formdata', ({ formData }) => {
    const between = ['from', 'to'].map((name) => String(formData.get(name) ?? ''));
    formData.delete('from');
    formData.delete('to');
    const isBetween = between.some((text) => text !== '');
    const ends = isBetween
      ? between.map((text) => (text === '' ? '' : new Date(text).toISOString()))
      : String(formData.get('earliest') ?? '').split('..');
    const [earliest = '', latest = ''] = ends;
    formData.set('earliest', earliest);
    if (latest !== '') formData.set('latest', latest);
  });
}

/** Searches between two moments. */
export function setSpan(form: HTMLFormElement, from: Date, to: Date): void {
  const select = form.querySelector<HTMLSelectElement>('select[name=earliest]')!;
  for (const name of ['from', 'to']) boxOf(form, name).value = '';
  select.append(new Option('', `${from.toISOString()}..${to.toISOString()}`, true, true));
  form.requestSubmit();
}

/** How the choice calls the span of an address. */
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

/** Moments in the reader's zone; everything else as the server calls it. */
function spanText({
  value,
  textContent,
}: Pick<HTMLOptionElement, 'value' | 'textContent'>): string {
  const [earliest = '', latest = ''] = value.split('..').map(momentText);
  // A choice of the list, such as the last hour, or all time.
  if (earliest === null || latest === null || earliest + latest === '') return textContent ?? '';
  if (latest === '') return `From ${earliest}`;
  return earliest === '' ? `Until ${latest}` : `${earliest} – ${latest}`;
}

/** Null for an end that is no moment. */
function momentText(end: string): string | null {
  if (end === '') return '';
  return isMoment(end) ? localTime(new Date(end)) : null;
}

/** As a box for a moment holds it; `''` for an end that is no moment. */
function boxText(end: string): string {
  if (!isMoment(end)) return '';
  const date = new Date(end);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

function isMoment(end: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(end) && !Number.isNaN(Date.parse(end));
}
