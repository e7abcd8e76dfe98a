/**
 * The fields of the newest matching events with their most frequent values; a click keeps only those with a value.
 */
import { jsonOf } from './answers.ts';
import { localNumber } from './times.ts';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly count: number;
  readonly distinct: number;
  readonly distinct_capped: boolean;
  readonly top: readonly { readonly value: unknown; readonly count: number }[];
}

/** Fetches and lists; the place stays hidden when there are none. */
export async function showFields(
  place: HTMLElement,
  selection: URLSearchParams,
  addTerms: (terms: string) => void,
): Promise<void> {
  const found = await jsonOf<{
    readonly fields: readonly Field[];
    readonly sampled: number;
  }>(await fetch(`/api/events/fields?${selection}`));
  if (found === null) return;
  const { fields, sampled } = found;
  if (sampled === 0) return;
  const title = document.createElement('h2');
  title.textContent = 'Fields';
  const note = document.createElement('p');
  note.className = 'fine';
  note.textContent = `of the newest ${localNumber(sampled)} events`;
  place.append(
    title,
    note,
    ...fields.filter(({ count }) => count > 0).map((one) => item(one, sampled, addTerms)),
  );
  place.hidden = false;
}

function item(field: Field, sampled: number, addTerms: (terms: string) => void): HTMLElement {
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  const name = document.createElement('span');
  name.textContent = field.name;
  const distinct = document.createElement('small');
  distinct.textContent = `${localNumber(field.distinct)}${field.distinct_capped ? '+' : ''}`;
  distinct.title = 'Different values';
  summary.append(name, distinct);
  const list = document.createElement('ul');
  for (const { value, count } of field.top) {
    const entry = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'plain';
    const text = document.createElement('span');
    text.textContent = typeof value === 'string' ? value : JSON.stringify(value);
    const share = document.createElement('small');
    share.textContent = `${Math.round((count / sampled) * 100)} %`;
    button.append(text, share);
    button.title = `Only events with this ${field.name}`;
    button.addEventListener('click', () => addTerms(term(field.name, text.textContent ?? '')));
    const bar = document.createElement('meter');
    bar.max = sampled;
    bar.value = count;
    bar.setAttribute('aria-hidden', 'true');
    entry.append(button, bar);
    list.append(entry);
  }
  details.append(summary, list);
  return details;
}

function term(name: string, value: string): string {
  const field = /^[A-Za-z_@][\w@.:/$-]*$/.test(name) ? name : quoted(name);
  return `${field}=${quoted(value)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
