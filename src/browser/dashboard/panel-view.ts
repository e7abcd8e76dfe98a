/** One panel on the page: its head, its state, and what was drawn last, which stays until there is something new. */
import type { DashboardPanel } from '../../docroot/dashboard.ts';
import { csrfHeaders, messageOf } from '../shared/ask.ts';
import { fieldTerm } from '../explorer/terms.ts';
import { saveAnswer } from '../shared/downloads.ts';
import { closer, make, openMenu } from '../shared/element.ts';
import { onSite } from '../shared/site.ts';
import { localTime } from '../shared/times.ts';
import { type Clicked, drawResult, drawText } from './draw.ts';
import { explorerAddress, requestOf, type Result, type Runner } from './run.ts';
import { filledQuery, filledValue } from './filled.ts';
import type { Choices, Place } from './state.ts';

/** Columns of twelve and steps of 40 pixels, where the file does not say. */
const SIZES: Readonly<Record<string, readonly [width: number, height: number]>> = {
  single: [3, 4],
  text: [6, 4],
  table: [6, 8],
  events: [12, 8],
};
const FORMATS = [
  ['csv', 'CSV'],
  ['ndjson', 'NDJSON'],
  ['xlsx', 'Excel (XLSX)'],
  ['parquet', 'Parquet'],
] as const;

export function sizeOf({ form, text, width, height }: DashboardPanel): [number, number] {
  const [w, h] = SIZES[form ?? (text === undefined ? 'table' : 'text')] ?? [6, 7];
  return [width ?? w, height ?? h];
}

export function titleOf({ title, savedsearch, dataset, text }: DashboardPanel): string {
  return title ?? savedsearch ?? dataset ?? (text === undefined ? 'Panel' : '');
}

export class PanelView {
  readonly element: HTMLElement;
  readonly place: Place;
  readonly #choices: Choices;
  readonly #runner: Runner;
  readonly #body = make('div.dash-body');
  readonly #problem = make('p.problem', { role: 'alert', hidden: true });
  readonly #age = make('span.fine.age');
  #result: Result | null = null;
  #drawn = '';
  #stopper: AbortController | null = null;

  constructor(place: Place, choices: Choices, runner: Runner) {
    this.place = place;
    this.#choices = choices;
    this.#runner = runner;
    const { panel } = place;
    const title = titleOf(panel);
    const { link } = panel.options ?? {};
    const words = link === undefined ? title : make('a', { href: onSite(link) }, title || link);
    const menu = make(
      'button.quiet.icon.panel-menu',
      {
        type: 'button',
        'aria-label': `More about ${title || 'this text'}`,
        'aria-haspopup': 'menu',
      },
      '⋮',
    );
    menu.addEventListener('click', () => this.#openMenu(menu));
    this.element = make(
      'article.dash-panel',
      { 'aria-label': title || 'Text' },
      make('header', make('h3', words), this.#age, panel.text === undefined ? menu : null),
      this.#problem,
      this.#body,
    );
    this.fit();
  }

  fit(): void {
    const [width, height] = sizeOf(this.place.panel);
    this.element.style.setProperty('--columns', String(width));
    this.element.style.setProperty('--steps', String(height));
  }

  /** `maxAge`: seconds that what is shown may be old. Resolves when it is there, or why not. Never rejects. */
  async refresh(maxAge: number): Promise<void> {
    const { place } = this;
    if (place.html !== null) {
      if (this.#drawn !== place.html) drawText(this.#body, place.html);
      this.#drawn = place.html;
      return;
    }
    this.#stopper?.abort();
    const stopper = new AbortController();
    this.#stopper = stopper;
    const request = requestOf(place, this.#choices, maxAge);
    if (request === null) return this.#tell(place.query?.problem ?? 'It has nothing to show.');
    this.element.classList.add('working');
    try {
      const result = await this.#runner.run(request, stopper.signal);
      if (this.#stopper !== stopper) return;
      this.#result = result;
      this.#tell(null);
      this.draw();
    } catch (error) {
      if (this.#stopper === stopper) this.#tell(messageOf(error));
    } finally {
      if (this.#stopper === stopper) {
        this.element.classList.remove('working');
        this.element.dataset['state'] = this.#problem.hidden ? 'shown' : 'failed';
        this.showAge();
      }
    }
  }

  /** Nothing for what is on the page already, unless the room has changed. */
  draw(isNewRoom = false): void {
    const result = this.#result;
    if (result === null) return;
    const drawn = JSON.stringify([result.rows, result.columns]);
    if (drawn === this.#drawn && !isNewRoom) return;
    this.#drawn = drawn;
    const { panel } = this.place;
    drawResult(this.#body, {
      panel,
      result,
      title: titleOf(panel),
      chosen:
        panel.options?.drilldown === undefined || panel.options.drilldown === false
          ? null
          : (clicked) => this.#follow(clicked),
    });
  }

  showAge(): void {
    const at = this.#result?.at;
    if (at === undefined) return;
    this.#age.textContent = ageText(Date.now() - at.getTime());
    this.#age.title = localTime(at);
  }

  stop(): void {
    this.#stopper?.abort();
    this.#stopper = null;
  }

  #tell(problem: string | null): void {
    this.#problem.textContent = problem ?? '';
    this.#problem.hidden = problem === null;
  }

  #openMenu(button: HTMLElement): void {
    const { panel } = this.place;
    const entry = (label: string, run: () => void): HTMLElement =>
      closer(label, run, { class: 'plain', role: 'menuitem' });
    const explorer =
      panel.dataset === undefined
        ? explorerAddress(this.place, this.#choices)
        : this.#datasetPage();
    openMenu(
      button,
      () => button.focus(),
      { class: 'value-menu', role: 'menu', 'aria-label': `More about ${titleOf(panel)}` },
      explorer === null ? null : make('a', { href: explorer, role: 'menuitem' }, 'Open its query'),
      make('p.fine', 'Download its rows'),
      FORMATS.map(([format, label]) => entry(label, () => this.#download(format, label))),
    );
  }

  #datasetPage(): string {
    const { dataset = '', filter, sort } = this.place.panel;
    const query = new URLSearchParams();
    if (filter !== undefined)
      query.set('filter', JSON.stringify(filledValue(filter, this.#choices.values)));
    if (sort !== undefined) query.set('sort', sort);
    const path = dataset.split('/').map(encodeURIComponent).join('/');
    return `/ui/${path}/${query.size === 0 ? '' : `?${query}`}`;
  }

  #download(format: string, label: string): void {
    const request = requestOf(this.place, this.#choices, 0);
    if (request === null) return;
    const { address, body } = request;
    if (body === null) {
      const url = new URL(address, location.origin);
      url.searchParams.set('format', format);
      if (this.place.panel.limit === undefined) url.searchParams.delete('limit');
      void saveAnswer(`${url.pathname}${url.search}`, label);
      return;
    }
    // What is drawn is cut to what can be seen; a file has it all, unless the panel says how much.
    const { limit, max_age: _age, ...rest } = body;
    const sent = { ...rest, format, ...(this.place.panel.limit !== undefined && { limit }) };
    void saveAnswer(address, label, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...csrfHeaders() },
      body: JSON.stringify(sent),
    });
  }

  #follow({ field, value, series, span }: Clicked): void {
    const { panel, query } = this.place;
    const drilldown = panel.options?.drilldown;
    const values = { ...this.#choices.values, value, field };
    const narrowed = span ?? undefined;
    if (typeof drilldown === 'string') {
      const { earliest, latest } = narrowed ?? this.#choices.spanFor(panel);
      const q = filledQuery(drilldown, values);
      location.assign(onSite(`/events?${new URLSearchParams({ q, earliest, latest })}`));
      return;
    }
    if (panel.dataset !== undefined) {
      const filter = { ...(filledValue(panel.filter ?? {}, values) as object), [field]: value };
      const page = new URL(this.#datasetPage(), location.origin);
      page.searchParams.set('filter', JSON.stringify(filter));
      location.assign(onSite(`${page.pathname}${page.search}`));
      return;
    }
    // What a series of a chart over time is called is a value of the field behind BY.
    const by = /\bby\s+"?([\w.@-]+)"?/i.exec(query?.rest ?? query?.query ?? '')?.[1];
    const terms =
      span === null
        ? fieldTerm(field, value)
        : by === undefined || series === null || series === ''
          ? ''
          : fieldTerm(by, series);
    const address = explorerAddress(this.place, this.#choices, {
      terms,
      ...(narrowed !== undefined && { span: narrowed }),
    });
    if (address !== null) location.assign(onSite(address));
  }
}

function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ago` : `${Math.floor(minutes / 60)} h ago`;
}
