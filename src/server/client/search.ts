/**
 * The search page: results while one types, and the last searches are remembered in this browser.
 */
import { startLiveForms } from './live-form.ts';
import { noteSearch } from './recent-searches.ts';

startLiveForms();
noteWhenUseful();
// What was typed on the way is no search; what led to a result is.
document.querySelector('#found')?.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('.results a')) noteWhenUseful();
});

function noteWhenUseful(): void {
  const text = document.querySelector<HTMLInputElement>('form.filter [name=q]')?.value.trim();
  if (text && document.querySelector('.results') !== null) noteSearch(text);
}
