/** Findings: filters that follow typing, choosing several, and keys to go through them. */
import { startLiveForms } from './shared/live-form.ts';
import { localise } from './shared/times.ts';

const bulk = document.querySelector<HTMLFormElement>('#bulk');
const all = bulk?.querySelector<HTMLInputElement>('[data-all]') ?? null;

localise(document);
startLiveForms();
if (all !== null) {
  all.closest('label')!.hidden = false;
  all.addEventListener('change', () => {
    for (const box of boxes()) box.checked = all.checked;
    count();
  });
}
document.addEventListener('change', (event) => {
  if (event.target instanceof HTMLInputElement && event.target.closest('.pick') !== null) count();
});
// The list is replaced while a filter is typed.
new MutationObserver(count).observe(document.querySelector('main')!, {
  childList: true,
  subtree: true,
});
document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const isBox = target instanceof HTMLInputElement && target.type === 'checkbox';
  const isTyping =
    target instanceof HTMLElement && target.matches('input, select, textarea') && !isBox;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (key === 'j' || key === 'k') go(key === 'j' ? 1 : -1);
  else if (key === 'x') current()?.click();
  else if (key === 'Enter' && isBox) current()?.closest('tr')?.querySelector('a')?.click();
  else return;
  event.preventDefault();
});

function boxes(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>('.pick input')];
}

function current(): HTMLInputElement | null {
  const { activeElement } = document;
  const row = activeElement?.closest('#list tr') ?? null;
  return row?.querySelector<HTMLInputElement>('.pick input') ?? null;
}

function go(step: number): void {
  const found = boxes();
  const at = found.findIndex((box) => box === current());
  const next = at < 0 ? found[0] : found[at + step];
  next?.focus();
}

function count(): void {
  if (bulk === null || all === null) return;
  const found = boxes();
  const picked = found.filter(({ checked }) => checked).length;
  const text = picked === 0 ? 'All' : `${picked} selected`;
  const label = bulk.querySelector('[data-picked]')!;
  if (label.textContent !== text) label.textContent = text;
  all.checked = picked > 0 && picked === found.length;
  all.indeterminate = picked > 0 && picked < found.length;
}
