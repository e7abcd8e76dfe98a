import { askJson } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { localNumber } from '../shared/times.ts';
import { type Narrow, valueText } from './terms.ts';

export interface Field {
  readonly name: string;
  readonly count: number;
  readonly distinct: number;
  readonly distinct_capped: boolean;
  readonly top: readonly { readonly value: unknown; readonly count: number }[];
}

interface Fields {
  readonly fields: readonly Field[];
  readonly sampled: number;
}

export async function askFields(selection: URLSearchParams): Promise<Fields> {
  return askJson<Fields>(`/api/events/fields?${selection}`);
}

export async function showFields(
  place: HTMLElement,
  selection: URLSearchParams,
  narrow: Narrow,
): Promise<void> {
  const note = make('p.fine', { 'aria-live': 'polite' }, 'Reading the newest events…');
  place.replaceChildren(make('h2', 'Fields'), note);
  place.hidden = false;
  const found = await askFields(selection).catch(() => null);
  if (found === null) {
    note.textContent = 'The fields could not be read.';
    place.append(quietButton('Try again', () => void showFields(place, selection, narrow)));
    return;
  }
  const { fields, sampled } = found;
  place.hidden = sampled === 0;
  note.textContent =
    sampled === 1 ? 'of one event' : `of the newest ${localNumber(sampled)} events`;
  const used = fields.filter(({ count }) => count > 0);
  place.append(...used.map((one) => itemOf(one, sampled, narrow)));
}

function itemOf(field: Field, sampled: number, narrow: Narrow): HTMLElement {
  const { name, distinct, distinct_capped: isCapped, top, count } = field;
  const different = `${localNumber(distinct)}${isCapped ? '+' : ''}`;
  const title = `${localNumber(count)} events have it, ${different} different values`;
  return make(
    'details',
    make('summary', { title }, make('span', name), make('small', different)),
    make(
      'ul',
      top.map((one) => valueOf(name, one, sampled, narrow)),
    ),
  );
}

function valueOf(
  name: string,
  { value, count }: Field['top'][number],
  sampled: number,
  narrow: Narrow,
): HTMLElement {
  const text = valueText(value);
  const share = `${localNumber(Math.round((count / sampled) * 100))} %`;
  const press = (label: string, isExcluded: boolean) => ({
    type: 'button',
    title: label,
    onclick: () => narrow(name, text, isExcluded),
  });
  const without = `No events with ${name} ${text}`;
  return make(
    'li',
    make(
      'button.plain',
      press(`Only events with ${name} ${text}`, false),
      make('span', text === '' ? '(empty)' : text),
      make('small', share),
    ),
    make('button.plain.without', { ...press(without, true), 'aria-label': without }, '−'),
    make('meter', { max: sampled, value: count, 'aria-hidden': 'true' }),
  );
}
