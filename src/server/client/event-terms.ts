/**
 * Search terms made by clicking: a value kept or left out, put behind the first stage of the query.
 */

/** Narrows the search by a value of a field. */
export type Narrow = (name: string, value: string, isExcluded: boolean) => void;

/** A condition on a field as it is typed: `host="web 1"`. */
export function fieldTerm(name: string, value: string, isExcluded = false): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : quoted(name);
  return `${isExcluded ? 'NOT ' : ''}${field}=${quoted(value)}`;
}

/** A value as it is typed: in quotes where the language needs them. */
export function quoted(text: string): string {
  const isPlain = /^[\w@.:+-]+$/.test(text) && !/^(?:AND|OR|NOT|IN)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** Adds terms to the query and searches. `first` is its first stage; what follows it stays as it is typed. */
export function addTerms(form: HTMLFormElement, first: string, terms: string): void {
  const area = form.querySelector<HTMLTextAreaElement>('textarea')!;
  const isBlank = area.defaultValue.trim() === '';
  // Somebody may have changed the beginning meanwhile: the search that is shown is the one to narrow.
  const typed = area.value.includes(first) ? area.value : area.defaultValue;
  area.value = isBlank
    ? `${terms} ${area.value}`.trim()
    : typed.replace(first, () => `${first} ${terms}`);
  form.requestSubmit();
}
