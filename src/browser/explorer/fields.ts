import type { Narrow } from './terms.ts';
import { make, quietButton } from '../grid/element.ts';
import { localNumber } from '../shared/times.ts';

interface Field {
  readonly name: string;
  readonly type: string;
  readonly count: number;
  readonly distinct: number;
  readonly distinct_capped: boolean;
  readonly top: readonly { readonly value: unknown; readonly count: number }[];
}

interface Fields {
  readonly fields: readonly Field[];
  readonly sampled: number;
}

export async function showFields(
  place: HTMLElement,
  selection: URLSearchParams,
  narrow: Narrow,
): Promise<void> {
  const note = make('p', { class: 'fine', 'aria-live': 'polite' }, 'Reading the newest events…');
  place.replaceChildren(make('h2', {}, 'Fields'), note);
  place.hidden = false;
  const found = await fieldsOf(selection);
  if (found === null) {
    note.textContent = 'The fields could not be read.';
    place.append(quietButton('Try again', () => void showFields(place, selection, narrow)));
    return;
  }
  const { fields, sampled } = found;
  if (sampled === 0) {
    place.hidden = true;
    return;
  }
  note.textContent =
    sampled === 1 ? 'of one event' : `of the newest ${localNumber(sampled)} events`;
  const used = fields.filter(({ count }) => count > 0);
  place.append(...used.map((one) => itemOf(one, sampled, narrow)));
}

async function fieldsOf(selection: URLSearchParams): Promise<Fields | null> {
  try {
    const response = await fetch(`/api/events/fields?${selection}`);
    if (response.ok) return (await response.json()) as Fields;
    await response.body?.cancel();
    return null;
  } catch {
    return null;
  }
}

function itemOf(field: Field, sampled: number, narrow: Narrow): HTMLElement {
  const { name, distinct, distinct_capped: isCapped, top, count } = field;
  const different = `${localNumber(distinct)}${isCapped ? '+' : ''}`;
  const about = `${localNumber(count)} events have it, ${different} different values`;
  return make(
    'details',
    {},
    make('summary', { title: about }, make('span', {}, name), make('small', {}, different)),
    make('ul', {}, ...top.map((one) => valueOf(name, one, sampled, narrow))),
  );
}

function valueOf(
  name: string,
  { value, count }: Field['top'][number],
  sampled: number,
  narrow: Narrow,
): HTMLElement {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const share = `${localNumber(Math.round((count / sampled) * 100))} %`;
  const only = make(
    'button',
    {
      type: 'button',
      class: 'plain',
      title: `Only events with ${name} ${text}`,
      onclick: () => narrow(name, text, false),
    },
    make('span', {}, text === '' ? '(empty)' : text),
    make('small', {}, share),
  );
  const label = `No events with ${name} ${text}`;
  const without = make(
    'button',
    {
      type: 'button',
      class: 'plain without',
      title: label,
      'aria-label': label,
      onclick: () => narrow(name, text, true),
    },
    '−',
  );
  const bar = make('meter', { max: sampled, value: count, 'aria-hidden': 'true' });
  return make('li', {}, only, without, bar);
}
