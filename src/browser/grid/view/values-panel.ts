/**
 * The sidebar of column statistics: blanks, frequent values, histograms. A click filters the view.
 */
import type { ColumnFacts } from '../../../tables/read/column-facts.ts';
import { memberFor } from '../../../pages/grid/conditions.ts';
import { countText, type GridColumn, plainNumber, shownText } from '../../../pages/grid/model.ts';
import { askJson, messageOf, Refused } from '../../shared/ask.ts';
import { make, makeForm } from '../../shared/element.ts';
import { localNumber } from '../../shared/times.ts';

interface ValuesOptions {
  readonly page: string;
  readonly columns: readonly GridColumn[];
  restriction(): URLSearchParams;
  filter(column: GridColumn, member: unknown): void;
}

type Facts = ColumnFacts & { readonly isPartial: boolean };
type Filter = (member: unknown) => void;

const OPEN_AT_FIRST = 3;

export function makeValuesPanel({ page, columns, restriction, filter }: ValuesOptions) {
  const element = make('aside.values-panel', { 'aria-label': 'Values of the columns' });
  element.hidden = true;
  const parts = new Map<string, HTMLDetailsElement>();
  const asked = new Map<string, string>();

  const load = async (column: GridColumn): Promise<void> => {
    const { name } = column;
    const body = parts.get(name)!.lastElementChild!;
    const query = restriction();
    query.delete('sort');
    query.set('summary', 'facets');
    query.set('column', name);
    const question = String(query);
    if (asked.get(name) === question) return;
    asked.set(name, question);
    if (body.childElementCount === 0) body.append(make('p.fine', 'Counting…'));
    body.setAttribute('aria-busy', 'true');
    let content: Node[];
    try {
      const facts = await askJson<Facts>(`${page}?${query}`);
      content = contentOf(column, facts, (member) => filter(column, member));
    } catch (error) {
      content = [make('p.fine', messageOf(error))];
      if (!(error instanceof Refused) || error.status === 0) asked.delete(name);
    }
    if (asked.get(name) !== question && asked.has(name)) return;
    body.removeAttribute('aria-busy');
    body.replaceChildren(...content);
  };
  /** Asks only what has changed, unless forced. */
  const refresh = (isForced = false): void => {
    if (element.hidden) return;
    if (isForced) asked.clear();
    for (const column of columns) if (parts.get(column.name)?.open === true) void load(column);
  };
  const fill = (): void => {
    for (const [index, column] of columns.entries()) {
      const details = make(
        'details',
        { open: index < OPEN_AT_FIRST, ontoggle: () => details.open && void load(column) },
        make('summary', column.name, make('small', ` ${column.format ?? column.type}`)),
        make('div.facts-body'),
      );
      parts.set(column.name, details);
    }
    element.append(make('h2', 'Values'), ...parts.values());
  };
  return {
    element,
    show(isShown: boolean): void {
      element.hidden = !isShown;
      if (!isShown) return;
      if (element.childElementCount === 0) fill();
      refresh();
    },
    open({ name }: GridColumn): void {
      const details = parts.get(name);
      if (details === undefined) return;
      details.open = true;
      details.scrollIntoView({ block: 'nearest' });
      details.querySelector('summary')?.focus();
    },
    refresh,
  };
}

function contentOf(column: GridColumn, facts: Facts, filter: Filter): Node[] {
  const { blanks, distinct, histogram, max, mean, min, rows, top } = facts;
  const lines = [
    `${facts.isDistinctBound ? 'more than ' : ''}${localNumber(distinct)} different`,
    blanks > 0 ? `${countText(blanks)} blank` : 'none blank',
  ];
  if (mean !== null) lines.push(`mean\u00a0${shownText(Number(mean.toPrecision(4)))}`);
  const parts: Node[] = [make('p.fine', lines.join(' · '))];
  if (facts.isPartial) {
    const text = `Of the first ${countText(rows)}: counting all takes too long.`;
    parts.push(make('p.fine', text));
  }
  if (histogram.length > 0) parts.push(histogramOf(column, facts, filter));
  else if (min !== null && min !== max && top.length < distinct) {
    parts.push(make('p.fine.range', `${shownText(min)} – ${shownText(max)}`));
  }
  // Values that occur once each are not worth a list, nor are the many values of a histogram.
  const isFew = distinct <= 10;
  const isList = isFew || (histogram.length === 0 && top[0]!.rows > 1);
  const most = Math.max(1, ...top.map((one) => one.rows));
  const values = (isList ? top : []).map((one) =>
    valueLine(shownText(one.value), one.rows, most, () => filter(memberOf(one.value))),
  );
  if (blanks > 0) {
    values.push(valueLine('(blank)', blanks, most, () => filter({ $null: true })));
  }
  if (values.length > 0) parts.push(make('ul.top-values', values));
  return parts;
}

function histogramOf(
  column: GridColumn,
  { histogram, min, max }: Facts,
  filter: Filter,
): HTMLElement {
  const most = Math.max(...histogram.map(({ rows }) => rows));
  // For the mouse; the fields below serve everybody.
  const bars = histogram.map(({ from, to, rows }, index) => {
    const end = index === histogram.length - 1 ? { $lte: to } : { $lt: to };
    const title = `${shownText(from)} to ${shownText(to)}: ${countText(rows)}`;
    const fill = make('span');
    fill.style.height = rows === 0 ? '0' : `${Math.max(4, (rows / most) * 100)}%`;
    return make('div', { title, onclick: () => filter({ $gte: from, ...end }) }, fill);
  });
  const range = `from ${shownText(min)} to ${shownText(max)}`;
  const label = `Histogram of ${column.name}, ${range}`;
  return make(
    'div.histogram',
    make('div.bars', { role: 'img', 'aria-label': label }, bars),
    rangeForm(column, { min, max }, filter),
  );
}

/** The server cuts texts at this length; the filter then matches the prefix. */
const CUT_TEXT = 200;

function memberOf(value: string | number | boolean): unknown {
  const isCut = typeof value === 'string' && value.length >= CUT_TEXT;
  return isCut ? { $startswith: value } : { $eq: value };
}

function rangeForm(
  column: GridColumn,
  { min, max }: Pick<Facts, 'min' | 'max'>,
  filter: Filter,
): HTMLElement {
  const { name } = column;
  const [from, to] = (
    [
      ['from', min],
      ['to', max],
    ] as const
  ).map(([label, value]) =>
    make('input', {
      type: 'text',
      inputmode: 'decimal',
      autocomplete: 'off',
      'aria-label': `${name} ${label}`,
      placeholder: shownText(value),
    }),
  );
  const submit = (): void => {
    const texts = [from!, to!].map((one) => plainNumber(one.value.trim(), column));
    filter(memberFor('between', texts));
  };
  const label = { type: 'submit', 'aria-label': `Filter ${name}` };
  return makeForm(
    submit,
    { class: 'range-form' },
    from,
    make('span', { 'aria-hidden': 'true' }, '–'),
    to,
    make('button.quiet.small', label, '✓'),
  );
}

function valueLine(text: string, rows: number, most: number, onclick: () => void): HTMLElement {
  const bar = make('span.share', { 'aria-hidden': 'true' });
  bar.style.width = `${(rows / most) * 100}%`;
  return make(
    'li',
    make(
      'button.plain',
      { type: 'button', onclick, title: `Only rows with ${text}` },
      bar,
      make('span.value', text),
      make('span.count', localNumber(rows)),
    ),
  );
}
