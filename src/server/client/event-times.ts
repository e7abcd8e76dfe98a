/**
 * The span of time of a query: chosen, or between two moments of the reader's own time. The address says both ends by name.
 */

/** Makes the choice search at once and reads the boxes in the reader's zone. */
export function startTimes(form: HTMLFormElement): void {
  for (const zone of form.querySelectorAll('.zone')) zone.textContent = '(your time)';
  form
    .querySelector('select[name=earliest]')
    ?.addEventListener('change', () => form.requestSubmit());
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

/** How the choice calls the span of an address. */
export function spanName(form: HTMLFormElement, query: URLSearchParams): string {
  const [earliest, latest] = [query.get('earliest') ?? '', query.get('latest') ?? ''];
  const value = latest === '' ? earliest : `${earliest}..${latest}`;
  const options = [...form.querySelectorAll<HTMLOptionElement>('select[name=earliest] option')];
  return options.find((option) => option.value === value)?.textContent?.trim() ?? value;
}
