export type Narrow = (name: string, value: string, isExcluded: boolean) => void;

export function fieldTerm(name: string, value: string, isExcluded = false): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : quoted(name);
  return `${isExcluded ? 'NOT ' : ''}${field}=${quoted(value)}`;
}

/** Quoted only where the language needs it. */
export function quoted(text: string): string {
  const isPlain = /^[\w@.:+-]+$/.test(text) && !/^(?:AND|OR|NOT|IN)$/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

/** Appends terms to `first`, the first stage of the query, and searches. */
export function addTerms(form: HTMLFormElement, first: string, terms: string): void {
  const area = form.querySelector<HTMLTextAreaElement>('textarea')!;
  const isBlank = area.defaultValue.trim() === '';
  // If the user has edited the beginning meanwhile, narrow the search that is shown.
  const typed = area.value.includes(first) ? area.value : area.defaultValue;
  area.value = isBlank
    ? `${terms} ${area.value}`.trim()
    : typed.replace(first, () => `${first} ${terms}`);
  form.requestSubmit();
}
