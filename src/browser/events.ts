import { shownText } from '../pages/grid/model.ts';
import { startAdding } from './explorer/add-to-dashboard.ts';
import { drillInto } from './explorer/drill.ts';
import { startEventDetails } from './explorer/event-details.ts';
import { askFields, showFields, splittingFields } from './explorer/fields.ts';
import { showHistogram } from './explorer/histogram.ts';
import { startRefresh } from './explorer/refresh.ts';
import { startResultChart } from './explorer/result-chart.ts';
import { startTail } from './explorer/tail.ts';
import { addTerms, ask, fieldTerm, type Narrow, startValues } from './explorer/terms.ts';
import { setSpan, spanName, startTimes } from './explorer/times.ts';
import { chooseView, noteInAddress, noteView, viewChoice } from './explorer/view-choices.ts';
import { make } from './shared/element.ts';
import { noteSearch, recentSearches } from './shared/recent-searches.ts';
import { localNumber } from './shared/times.ts';

const explorer = document.querySelector<HTMLElement>('#explorer');
const form = document.querySelector<HTMLFormElement>('#query');

// The page of one event begins where it stands.
document.querySelector('.lines > li[aria-current]')?.scrollIntoView({ block: 'center' });
// What has just been done is told once.
noteInAddress('done', null);
for (const list of document.querySelectorAll<HTMLElement>('#found, #tail')) startEventDetails(list);

if (explorer !== null && form !== null) {
  const { terms = '', searches, earliest = '', latest = '' } = explorer.dataset;
  if (form.querySelector('#time') !== null) startTimes(form, explorer);
  const refreshed: (() => void)[] = [];
  if (searches === 'true') {
    const selection = new URLSearchParams(terms === '*' ? {} : { query: terms });
    if (earliest !== '') selection.set('earliest', earliest);
    if (latest !== '') selection.set('latest', latest);
    const narrow: Narrow = (name, value, isExcluded) =>
      addTerms(form, terms, fieldTerm(name, value, isExcluded));
    const zone = new URLSearchParams(location.search).get('timezone');
    if (zone !== null) selection.set('timezone', zone);
    refreshed.push(startViews(explorer, form, { selection, terms, narrow }));
    startTail(explorer, terms, narrow);
    startValues(explorer, narrow);
  }
  refreshed.push(startResultChart(explorer, (point) => drillInto(form, terms, point)));
  showFigures(explorer);
  startRefresh(form, explorer, () => {
    showFigures(explorer);
    for (const run of refreshed) run();
  });
  showHistory(explorer, form);
  saveAsTyped(explorer, form);
  startAdding(explorer, form);
}

interface Views {
  readonly selection: URLSearchParams;
  readonly terms: string;
  readonly narrow: Narrow;
}

/** The histogram and the fields. Returns what reads them anew. */
function startViews(
  explorer: HTMLElement,
  form: HTMLFormElement,
  { selection, terms, narrow }: Views,
): () => void {
  const { latest = '' } = explorer.dataset;
  const [bars, sidebar] = ['#histogram', '#fields'].map((id) =>
    explorer.querySelector<HTMLElement>(id)!,
  ) as [HTMLElement, HTMLElement];
  const lines = explorer.querySelector<HTMLElement>('#found .event-lines');
  const split = (field: string): void => {
    noteView('by', field);
    void count();
  };
  const chart = (stages: string, kind: string): void => {
    chooseView('chart', kind);
    ask(form, `${terms} | ${stages}`);
  };
  const showColumns = (names: readonly string[]): void => {
    chooseView('columns', names.join(',') || 'none');
    form.requestSubmit();
  };
  const columns = lines === null ? [] : columnsOf(lines);
  let fields: Promise<readonly string[]>;
  const count = async (): Promise<void> => {
    const until = latest === '' || latest === 'now' ? new Date() : null;
    const zoom = (from: Date, to: Date): void => setSpan(form, from, to);
    const view = { selection, fields, by: viewChoice('by'), until, zoom, split };
    tellTotal(explorer, await showHistogram(bars, view));
  };
  const run = (): void => {
    const found = askFields(selection).catch(() => null);
    fields = found.then((one) => splittingFields(one?.fields ?? []));
    void count();
    void showFields(sidebar, selection, { narrow, chart, split, columns, showColumns }, found);
  };
  run();
  return run;
}

function columnsOf(lines: HTMLElement): string[] {
  const heads = [...lines.querySelectorAll<HTMLElement>('.lines-head > span:has(a) > span')];
  return heads.map(({ textContent }) => textContent ?? '');
}

function tellTotal(explorer: HTMLElement, total: number | null): void {
  const place = explorer.querySelector('#matched');
  if (total === null) return;
  if (place !== null) place.textContent = ` of ${localNumber(total)}`;
  const file = explorer.querySelector<HTMLElement>('#file-rows');
  if (file === null) return;
  const most = Number(file.dataset['most']);
  file.textContent =
    total > most
      ? `the first ${localNumber(most)} of ${localNumber(total)} rows`
      : `all ${localNumber(total)} rows`;
}

function showFigures(explorer: HTMLElement): void {
  for (const figure of explorer.querySelectorAll<HTMLDataElement>('#result data')) {
    const number = Number(figure.value);
    if (String(number) !== figure.value) continue;
    // The last digits of a double are noise; the title keeps them.
    figure.textContent = shownText(Number(number.toPrecision(12)));
    figure.title = figure.value;
  }
}

function queryIn(query: URLSearchParams): string {
  return query.get('q') ?? query.get('ask') ?? '';
}

/** The last queries of this page, kept in this browser only. */
function showHistory(explorer: HTMLElement, form: HTMLFormElement): void {
  const asked = queryIn(new URLSearchParams(location.search));
  if (asked.trim() !== '' && explorer.querySelector('.query-problem') === null) {
    noteSearch(`${location.pathname}${location.search}`, 'queries');
  }
  const place = explorer.querySelector<HTMLDetailsElement>('#history');
  const here = (address: string): boolean =>
    new URL(address, location.origin).pathname === location.pathname;
  const addresses = recentSearches('queries').filter(here);
  if (place === null || addresses.length === 0) return;
  const items = addresses.map((address) => {
    const query = new URL(address, location.origin).searchParams;
    const text = make('code', queryIn(query));
    const link = { href: `${location.pathname}?${query}` };
    return make('li', make('a', link, text, ' ', make('small', spanName(form, query))));
  });
  place.querySelector('ul')!.replaceChildren(...items);
  place.hidden = false;
}

/** Saves the query, its time and the chart as they stand in the page, even before they are searched. */
function saveAsTyped(explorer: HTMLElement, search: HTMLFormElement): void {
  for (const save of explorer.querySelectorAll('form[action$="/savedsearches"]')) {
    save.addEventListener('formdata', (event) => {
      const { formData } = event as FormDataEvent;
      formData.delete('query');
      const typed = new FormData(search);
      formData.set('q', typed.get('q') ?? typed.get('ask') ?? '');
      for (const name of ['earliest', 'latest']) formData.set(name, typed.get(name) ?? '');
      const shown = new URLSearchParams(location.search);
      for (const name of [
        'q',
        'ask',
        'earliest',
        'latest',
        'saved',
        'done',
        'refresh',
        'limit',
        'offset',
        'live',
      ])
        shown.delete(name);
      formData.set('view', String(shown));
    });
  }
}
