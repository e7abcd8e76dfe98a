/**
 * The explorer beyond plain HTML: a histogram that zooms, the fields of the events, the live tail, a chart of the result.
 */
import { showFields } from './event-fields.ts';
import { showHistogram } from './event-histogram.ts';
import { startTail } from './event-tail.ts';
import { startHistory } from './event-history.ts';
import { startSaving } from './event-saving.ts';
import { addTerms, fieldTerm, type Narrow } from './event-terms.ts';
import { setSpan, startTimes } from './event-times.ts';
import { startValues } from './event-values.ts';
import { startResultChart } from './result-chart.ts';
import { shownText } from './grid/model.ts';
import { localNumber } from './times.ts';

const explorer = document.querySelector<HTMLElement>('#explorer');
const form = document.querySelector<HTMLFormElement>('#query');

if (explorer !== null && form !== null) {
  const { terms = '', searches, earliest = '', latest = '' } = explorer.dataset;
  startTimes(form, explorer);
  if (searches === 'true') {
    const selection = new URLSearchParams(terms === '*' ? {} : { query: terms });
    if (earliest !== '') selection.set('earliest', earliest);
    if (latest !== '') selection.set('latest', latest);
    const narrow: Narrow = (name, value, isExcluded) =>
      addTerms(form, terms, fieldTerm(name, value, isExcluded));
    const zoom = (from: Date, to: Date): void => setSpan(form, from, to);
    void showHistogram(explorer.querySelector<HTMLElement>('#histogram')!, selection, zoom).then(
      (total) => tellTotal(explorer, total),
    );
    void showFields(explorer.querySelector<HTMLElement>('#fields')!, selection, narrow);
    startTail(explorer, terms, narrow);
    startValues(explorer, narrow);
  }
  showFigures(explorer);
  startResultChart(explorer);
  startHistory(explorer, form);
  startSaving(explorer, form);
}

/** `first 100 of 48,210 rows`: how many match, where the list is cut. */
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

/** Numbers of a result as people of this place write them; those that no double holds stay as they are. */
function showFigures(explorer: HTMLElement): void {
  for (const figure of explorer.querySelectorAll<HTMLDataElement>('#result data')) {
    const number = Number(figure.value);
    if (String(number) !== figure.value) continue;
    // The last digits of a double are noise; the title has them.
    figure.textContent = shownText(Number(number.toPrecision(12)));
    figure.title = figure.value;
  }
}
