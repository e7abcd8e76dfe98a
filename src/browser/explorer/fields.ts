import { askJson } from '../shared/ask.ts';
import { make, quietButton } from '../shared/element.ts';
import { levelNamed } from '../../base/text/level-names.ts';
import { localNumber } from '../shared/times.ts';
import { type Narrow, valueText } from './terms.ts';

const MAX_SPLIT = 50;

export interface Field {
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

export async function askFields(selection: URLSearchParams): Promise<Fields> {
  return askJson<Fields>(`/api/events/fields?${selection}`);
}

interface FieldActions {
  readonly narrow: Narrow;
  /** Searches the events of the page with further stages, and shows the result in a form of chart. */
  readonly chart: (stages: string, form: string) => void;
  readonly split: (field: string) => void;
  /** Names of the columns of lines. */
  readonly columns: readonly string[];
  readonly showColumns: (names: readonly string[]) => void;
}

export async function showFields(
  place: HTMLElement,
  selection: URLSearchParams,
  actions: FieldActions,
  asked = askFields(selection).catch(() => null),
): Promise<void> {
  const opened = new Set(
    [...place.querySelectorAll<HTMLElement>('details[open]')].map(
      ({ dataset }) => dataset['field'],
    ),
  );
  const note = make('p.fine', { 'aria-live': 'polite' }, 'Reading the newest events…');
  if (place.childElementCount === 0) place.replaceChildren(make('h2', 'Fields'), note);
  place.hidden = false;
  const found = await asked;
  if (found === null) {
    note.textContent = 'The fields could not be read.';
    const again = quietButton('Try again', () => void showFields(place, selection, actions));
    place.replaceChildren(make('h2', 'Fields'), note, again);
    return;
  }
  const { fields, sampled } = found;
  place.hidden = sampled === 0;
  note.textContent =
    sampled === 1 ? 'of one event' : `of the newest ${localNumber(sampled)} events`;
  const used = fields.filter(({ count }) => count > 0);
  const items = used.map((one) => itemOf(one, sampled, actions));
  for (const item of items) item.open = opened.has(item.dataset['field']);
  place.replaceChildren(make('h2', 'Fields'), note, ...items);
}

/** Fields with a few values, by which bars can be split; levels first. */
export function splittingFields(fields: readonly Field[]): string[] {
  const few = fields.filter(
    ({ count, distinct, distinct_capped: isCapped }) =>
      count > 0 && distinct > 0 && distinct <= MAX_SPLIT && !isCapped,
  );
  const isLevel = ({ top }: Field): boolean =>
    top.length > 0 && top.every(({ value }) => levelNamed(String(value)) !== null);
  return few.toSorted((a, b) => Number(isLevel(b)) - Number(isLevel(a))).map(({ name }) => name);
}

function itemOf(field: Field, sampled: number, actions: FieldActions): HTMLDetailsElement {
  const { name, distinct, distinct_capped: isCapped, top, count } = field;
  const different = `${localNumber(distinct)}${isCapped ? '+' : ''}`;
  const title = `${localNumber(count)} events have it, ${different} different values`;
  return make(
    'details',
    { 'data-field': name },
    make('summary', { title }, make('span', name), make('small', different)),
    buttonsOf(field, actions),
    make(
      'ul',
      top.map((one) => valueOf(name, one, sampled, actions.narrow)),
    ),
  );
}

/** Each writes a query, which one may go on with. */
function buttonsOf({ name, type, distinct }: Field, actions: FieldActions): HTMLElement {
  const { chart, split, columns, showColumns } = actions;
  const field = fieldName(name);
  const isColumn = columns.includes(name);
  const button = (label: string, about: string, onclick: () => void): HTMLElement =>
    quietButton(label, onclick, { 'aria-label': `${label}: ${name}`, title: about });
  const figures = `avg(${expressionName(name)})`;
  return make(
    'div.field-actions',
    button('Top values', 'Count the events of each value', () =>
      chart(`stats count by ${field} | sort -count | head 10`, 'bar'),
    ),
    button('Over time', 'Count the events of each value over time', () =>
      chart(`timechart count by ${field}`, 'stacked-bar'),
    ),
    type === 'number'
      ? button('Mean', 'Its mean over time', () => chart(`timechart ${figures}`, 'line'))
      : null,
    distinct <= MAX_SPLIT ? button('Split', 'Split the bars above by it', () => split(name)) : null,
    name.includes(',')
      ? null
      : button(
          isColumn ? 'No column' : 'Column',
          isColumn ? 'Take its column away' : 'Show it in a column of its own',
          () =>
            showColumns(isColumn ? columns.filter((other) => other !== name) : [...columns, name]),
        ),
  );
}

/** As commands take it. */
function fieldName(name: string): string {
  return /^[A-Za-z_@][\w.@]*$/.test(name) ? name : JSON.stringify(name);
}

/** As functions take it, where double quotes are a text. */
function expressionName(name: string): string {
  return /^[A-Za-z_@][\w.@]*$/.test(name) ? name : `'${name.replaceAll(/['\\]/g, '\\$&')}'`;
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
