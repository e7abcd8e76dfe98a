import { askJson } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { rankOfLevel } from '../shared/chart/palette.ts';
import { localNumber } from '../shared/times.ts';
import { type Narrow, valueText } from './terms.ts';

const MAX_SPLIT = 50;

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
  asked = askFields(selection).catch(() => null),
): Promise<void> {
  const note = make('p.fine', { 'aria-live': 'polite' }, 'Reading the newest events…');
  place.replaceChildren(make('h2', 'Fields'), note);
  place.hidden = false;
  const found = await asked;
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

/** Fields with a few values, by which bars can be split; levels first. */
export function splittingFields(fields: readonly Field[]): string[] {
  const few = fields.filter(
    ({ count, distinct, distinct_capped: isCapped }) =>
      count > 0 && distinct > 0 && distinct <= MAX_SPLIT && !isCapped,
  );
  const isLevel = ({ top }: Field): boolean =>
    top.length > 0 && top.every(({ value }) => rankOfLevel(String(value)) !== null);
  return few.toSorted((a, b) => Number(isLevel(b)) - Number(isLevel(a))).map(({ name }) => name);
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
