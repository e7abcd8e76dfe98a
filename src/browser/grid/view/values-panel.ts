/**
 * The sidebar of column statistics: blanks, frequent values, histograms. A click filters the view.
 */
import type { ColumnFacts } from '../../../tables/read/column-facts.ts';
import { localNumber } from '../../shared/times.ts';
import { memberFor } from '../../../pages/grid/conditions.ts';
import { make } from '../element.ts';
import { countText, type GridColumn, plainNumber, shownText } from '../../../pages/grid/model.ts';
import { problemOf } from '../table/rows.ts';

interface ValuesOptions {
  readonly page: string;
  readonly columns: readonly GridColumn[];
  restriction(): URLSearchParams;
  filter(column: GridColumn, member: unknown): void;
}

type Facts = ColumnFacts & { readonly isPartial: boolean };

const OPEN_AT_FIRST = 3;

export class ValuesPanel {
  readonly element: HTMLElement;
  readonly #options: ValuesOptions;
  readonly #parts = new Map<string, { details: HTMLDetailsElement; body: HTMLElement }>();
  #asked = new Map<string, string>();
  #isFilled = false;

  constructor(options: ValuesOptions) {
    this.#options = options;
    this.element = make(
      'aside',
      { class: 'values-panel', 'aria-label': 'Values of the columns' },
      make('h2', {}, 'Values'),
    );
    this.element.hidden = true;
  }

  show(isShown: boolean): void {
    this.element.hidden = !isShown;
    if (!isShown) return;
    if (!this.#isFilled) this.#fill();
    this.refresh();
  }

  open(column: GridColumn): void {
    const part = this.#parts.get(column.name);
    if (part === undefined) return;
    part.details.open = true;
    part.details.scrollIntoView({ block: 'nearest' });
    part.details.querySelector('summary')?.focus();
  }

  refresh(force = false): void {
    if (this.element.hidden) return;
    if (force) this.#asked.clear();
    for (const column of this.#options.columns) {
      if (this.#parts.get(column.name)?.details.open === true) void this.#load(column);
    }
  }

  #fill(): void {
    this.#isFilled = true;
    for (const [index, column] of this.#options.columns.entries()) {
      const body = make('div', { class: 'facts-body' });
      const details = make(
        'details',
        { ontoggle: () => details.open && void this.#load(column) },
        make('summary', {}, column.name, make('small', {}, ` ${column.type}`)),
        body,
      ) as HTMLDetailsElement;
      details.open = index < OPEN_AT_FIRST;
      this.#parts.set(column.name, { details, body });
      this.element.append(details);
    }
  }

  async #load(column: GridColumn): Promise<void> {
    const { body } = this.#parts.get(column.name)!;
    const query = this.#options.restriction();
    query.delete('sort');
    query.set('summary', 'facets');
    query.set('column', column.name);
    const question = String(query);
    if (this.#asked.get(column.name) === question) return;
    this.#asked.set(column.name, question);
    if (body.childElementCount === 0) body.append(make('p', { class: 'fine' }, 'Counting…'));
    body.setAttribute('aria-busy', 'true');
    let content: Node[];
    try {
      const response = await fetch(`${this.#options.page}?${query}`, {
        headers: { Accept: 'application/json' },
      });
      content = response.ok
        ? this.#contentOf(column, (await response.json()) as Facts)
        : [make('p', { class: 'fine' }, (await problemOf(response)).message)];
    } catch {
      content = [make('p', { class: 'fine' }, 'The server cannot be reached.')];
      this.#asked.delete(column.name);
    }
    if (this.#asked.get(column.name) !== question && this.#asked.has(column.name)) return;
    body.removeAttribute('aria-busy');
    body.replaceChildren(...content);
  }

  #contentOf(column: GridColumn, facts: Facts): Node[] {
    const { filter } = this.#options;
    const distinct = facts.isDistinctBound
      ? `more than ${localNumber(facts.distinct)}`
      : localNumber(facts.distinct);
    const lines = [
      `${distinct} different`,
      facts.blanks > 0 ? `${countText(facts.blanks)} blank` : 'none blank',
    ];
    if (facts.mean !== null)
      lines.push(`mean\u00a0${shownText(Number(facts.mean.toPrecision(4)))}`);
    const parts: Node[] = [make('p', { class: 'fine' }, lines.join(' · '))];
    if (facts.isPartial) {
      parts.push(
        make(
          'p',
          { class: 'fine' },
          `Of the first ${countText(facts.rows)}: counting all takes too long.`,
        ),
      );
    }
    if (facts.histogram.length > 0) parts.push(this.#histogram(column, facts));
    else if (facts.min !== null && facts.min !== facts.max && facts.top.length < facts.distinct) {
      parts.push(
        make('p', { class: 'fine range' }, `${shownText(facts.min)} – ${shownText(facts.max)}`),
      );
    }
    // Values that occur once each are not worth a list, nor are the many values of a histogram.
    const isList =
      (facts.histogram.length === 0 || facts.distinct <= 10) &&
      (facts.distinct <= 10 || facts.top[0]!.rows > 1);
    const most = Math.max(1, ...facts.top.map(({ rows }) => rows));
    const list = make('ul', { class: 'top-values' });
    for (const { value, rows } of isList ? facts.top : []) {
      list.append(valueLine(shownText(value), rows, most, () => filter(column, memberOf(value))));
    }
    if (facts.blanks > 0) {
      list.append(valueLine('(blank)', facts.blanks, most, () => filter(column, { $null: true })));
    }
    if (list.childElementCount > 0) parts.push(list);
    return parts;
  }

  #histogram(column: GridColumn, { histogram, min, max }: Facts): HTMLElement {
    const most = Math.max(...histogram.map(({ rows }) => rows));
    const bars = make('div', {
      class: 'bars',
      role: 'img',
      'aria-label': `Histogram of ${column.name}, from ${shownText(min)} to ${shownText(max)}`,
    });
    const { filter } = this.#options;
    for (const [index, { from, to, rows }] of histogram.entries()) {
      const range =
        index === histogram.length - 1 ? { $gte: from, $lte: to } : { $gte: from, $lt: to };
      // For the mouse; the fields below serve everybody.
      const bar = make(
        'div',
        {
          title: `${shownText(from)} to ${shownText(to)}: ${countText(rows)}`,
          onclick: () => filter(column, range),
        },
        make('span', {}),
      );
      const fill = bar.firstElementChild as HTMLElement;
      fill.style.height = rows === 0 ? '0' : `${Math.max(4, (rows / most) * 100)}%`;
      bars.append(bar);
    }
    return make(
      'div',
      { class: 'histogram' },
      bars,
      rangeForm(column, { min, max }, (member) => filter(column, member)),
    );
  }
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
  filter: (member: unknown) => void,
): HTMLElement {
  const { name } = column;
  const field = (label: string, value: Facts['min']): HTMLInputElement =>
    make('input', {
      type: 'text',
      inputmode: 'decimal',
      autocomplete: 'off',
      'aria-label': `${name} ${label}`,
      placeholder: shownText(value),
    });
  const from = field('from', min);
  const to = field('to', max);
  const form = make(
    'form',
    { class: 'range-form' },
    from,
    make('span', { 'aria-hidden': 'true' }, '–'),
    to,
    make('button', { type: 'submit', class: 'quiet small', 'aria-label': `Filter ${name}` }, '✓'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const texts = [from, to].map((one) => plainNumber(one.value.trim(), column));
    filter(memberFor('between', texts));
  });
  return form;
}

function valueLine(text: string, rows: number, most: number, onclick: () => void): HTMLElement {
  const bar = make('span', { class: 'share', 'aria-hidden': 'true' });
  bar.style.width = `${(rows / most) * 100}%`;
  return make(
    'li',
    {},
    make(
      'button',
      { type: 'button', class: 'plain', onclick, title: `Only rows with ${text}` },
      bar,
      make('span', { class: 'value' }, text),
      make('span', { class: 'count' }, localNumber(rows)),
    ),
  );
}
