/**
 * The span of time of a query: chosen, or between two moments of the reader's own time. The address says both ends by name.
 */
import { momentIn, putMoment, type Side } from './moment-box.ts';
import { isFarFromServer, localTime, serverMoment } from './times.ts';

/** The boxes by name, and which end of the span each is. */
const SIDES: readonly (readonly [name: string, side: Side])[] = [
  ['from', 'start'],
  ['to', 'end'],
];
/** Snapped to a day, week, month or year, of which those of the server are UTC. */
const SNAPPED = /@(?:d|w|mon|q|y)\b/;

/** Makes the choice search at once, and everything about times the reader's own zone. */
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
  // What is shown is where another span begins; a closed box would win over the choice.
  form
    .querySelector('.between')
    ?.closest('details')
    ?.addEventListener('toggle', (event) => {
      const isOpen = (event.target as HTMLDetailsElement).open;
      const ends = isOpen ? [earliest, latest] : ['', ''];
      boxes.forEach((box, index) => {
        // Somebody may be typing already: this comes a moment after the opening.
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
  const ends = value.split('..');
  // A choice of the list, such as the last hour, or all time.
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
