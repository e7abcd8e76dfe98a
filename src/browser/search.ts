import { startLiveForms } from './shared/live-form.ts';
import { noteSearch } from './shared/recent-searches.ts';

startLiveForms();
noteWhenUseful();
// Intermediate input is no search; one that led to a result is remembered.
document.querySelector('#found')?.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('.results a')) noteWhenUseful();
});

function noteWhenUseful(): void {
  const text = document.querySelector<HTMLInputElement>('form.filter [name=q]')?.value.trim();
  if (text && document.querySelector('.results') !== null) noteSearch(text);
}
