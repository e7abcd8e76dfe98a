/**
 * The explorer beyond plain HTML: a histogram that zooms, the fields of the events, the live tail, a chart of the result.
 */
import { showFields } from './event-fields.ts';
import { showHistogram } from './event-histogram.ts';
import { startTail } from './event-tail.ts';
import { startHistory } from './event-history.ts';
import { startSaving } from './event-saving.ts';
import { startTimes } from './event-times.ts';
import { startResultChart } from './result-chart.ts';

const explorer = document.querySelector<HTMLElement>('#explorer');
const form = document.querySelector<HTMLFormElement>('#query');

if (explorer !== null && form !== null) {
  const { terms = '', searches, earliest = '', latest = '' } = explorer.dataset;
  if (searches === 'true') {
    const selection = new URLSearchParams(terms === '*' ? {} : { query: terms });
    if (earliest !== '') selection.set('earliest', earliest);
    if (latest !== '') selection.set('latest', latest);
    const zoom = (from: Date, to: Date): void => {
      setTimes(form, from.toISOString(), to.toISOString());
    };
    void showHistogram(explorer.querySelector<HTMLElement>('#histogram')!, selection, zoom);
    const addTerms = (term: string): void => addToQuery(form, terms, term);
    void showFields(explorer.querySelector<HTMLElement>('#fields')!, selection, addTerms);
    startTail(explorer, terms);
  }
  startResultChart(explorer);
  startTimes(form);
  startHistory(explorer, form);
  startSaving(explorer, form);
}

function setTimes(form: HTMLFormElement, earliest: string, latest: string): void {
  const select = form.querySelector<HTMLSelectElement>('select[name=earliest]')!;
  select.append(new Option(earliest, `${earliest}..${latest}`, true, true));
  form.requestSubmit();
}

/** The terms are the first stage as typed: what follows them stays. */
function addToQuery(form: HTMLFormElement, terms: string, term: string): void {
  const text = form.querySelector<HTMLTextAreaElement>('textarea')!;
  const typed = text.value;
  text.value =
    terms === '*' && typed.trim() === '' ? term : typed.replace(terms, () => `${terms} ${term}`);
  form.requestSubmit();
}
