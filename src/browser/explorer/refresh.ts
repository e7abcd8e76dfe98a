/** Searches again every so often, as chosen beside the time. What is shown stays until the new is there. */
import { pageAt, showParts } from '../shared/live-form.ts';
import { noteInAddress, viewChoice } from './view-choices.ts';

/** Shorter would only wait for the search. */
const LEAST_SECONDS = 5;

/** `shown` runs when there is a new result. */
export function startRefresh(
  form: HTMLFormElement,
  explorer: HTMLElement,
  shown: () => void,
): void {
  const select = form.querySelector<HTMLSelectElement>('select[name=refresh]');
  const summary = form.querySelector<HTMLElement>('#time summary');
  if (select === null || summary === null) return;
  let timer = 0;
  const plan = (): void => {
    clearTimeout(timer);
    const seconds = Number(viewChoice('refresh'));
    summary.dataset['refresh'] = seconds > 0 ? (select.selectedOptions[0]?.textContent ?? '') : '';
    if (seconds > 0) {
      timer = window.setTimeout(() => void run(), Math.max(LEAST_SECONDS, seconds) * 1000);
    }
  };
  const run = async (): Promise<void> => {
    // An event that is being read stays, and so does what nobody sees.
    const isRead = explorer.querySelector('#found details[open]') !== null;
    if (!document.hidden && !isRead) {
      // A search that fails once is asked again at its time.
      const page = await pageAt(location.href).catch(() => null);
      if (page !== null && page.querySelector('#found') !== null) {
        showParts(page, ['found', 'figures']);
        shown();
      }
    }
    plan();
  };
  select.addEventListener('change', () => {
    noteInAddress('refresh', select.value === '' ? null : select.value);
    plan();
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && viewChoice('refresh') !== '') {
      clearTimeout(timer);
      void run();
    }
  });
  plan();
}
