import { shownText } from '../pages/grid/model.ts';
import { startAdding } from './explorer/add-to-dashboard.ts';
import { drillInto } from './explorer/drill.ts';
import { askFields, showFields, splittingFields } from './explorer/fields.ts';
import { showHistogram } from './explorer/histogram.ts';
import { startResultChart } from './explorer/result-chart.ts';
import { startTail } from './explorer/tail.ts';
import { addTerms, fieldTerm, type Narrow, startValues } from './explorer/terms.ts';
import { setSpan, spanName, startTimes } from './explorer/times.ts';
import { noteView, viewChoice } from './explorer/view-choices.ts';
import { make } from './shared/element.ts';
import { noteSearch, recentSearches } from './shared/recent-searches.ts';
import { localNumber } from './shared/times.ts';

const explorer = document.querySelector<HTMLElement>('#explorer');
const form = document.querySelector<HTMLFormElement>('#query');

if (explorer !== null && form !== null) {
  const { terms = '', searches, earliest = '', latest = '' } = explorer.dataset;
  if (form.elements.namedItem('earliest') !== null) startTimes(form, explorer);
  if (searches === 'true') {
    const selection = new URLSearchParams(terms === '*' ? {} : { query: terms });
    if (earliest !== '') selection.set('earliest', earliest);
    if (latest !== '') selection.set('latest', latest);
    const narrow: Narrow = (name, value, isExcluded) =>
      addTerms(form, terms, fieldTerm(name, value, isExcluded));
    const zoom = (from: Date, to: Date): void => setSpan(form, from, to);
    const zone = form.querySelector<HTMLInputElement>('input[name=timezone]')?.value;
    if (zone !== undefined) selection.set('timezone', zone);
    const found = askFields(selection).catch(() => null);
    const fields = found.then((one) => splittingFields(one?.fields ?? []));
    startHistogram(explorer, { selection, zoom, fields });
    void showFields(explorer.querySelector<HTMLElement>('#fields')!, selection, narrow, found);
    startTail(explorer, terms, narrow);
    startValues(explorer, narrow);
  }
  showFigures(explorer);
  startResultChart(explorer, (point) => drillInto(form, terms, point));
  showHistory(explorer, form);
  saveAsTyped(explorer, form);
  startAdding(explorer, form);
}

function startHistogram(
  explorer: HTMLElement,
  view: Pick<Parameters<typeof showHistogram>[1], 'fields' | 'selection' | 'zoom'>,
): void {
  const { latest = '' } = explorer.dataset;
  const place = explorer.querySelector<HTMLElement>('#histogram')!;
  const show = async (): Promise<void> =>
    tellTotal(
      explorer,
      await showHistogram(place, {
        ...view,
        by: viewChoice('by'),
        until: latest === '' || latest === 'now' ? new Date() : null,
        split: (field) => {
          noteView('by', field);
          void show();
        },
      }),
    );
  void show();
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

/** Saves the query and time range as they stand in the form, even before they are searched. */
function saveAsTyped(explorer: HTMLElement, search: HTMLFormElement): void {
  const save = explorer.querySelector<HTMLFormElement>('form[action$="/savedsearches"]');
  save?.addEventListener('formdata', ({ formData }) => {
    formData.delete('query');
    const typed = new FormData(search);
    formData.set('q', typed.get('q') ?? typed.get('ask') ?? '');
    for (const name of ['earliest', 'latest']) formData.set(name, typed.get(name) ?? '');
  });
}
