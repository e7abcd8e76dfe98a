/** How a reader wants a result shown: it stands in the address, and goes along with the next search. */

type ViewName = 'chart' | 'log' | 'min' | 'max' | 'by' | 'columns' | 'refresh';

export function viewChoice(name: ViewName): string {
  return new URLSearchParams(location.search).get(name) ?? '';
}

/** For this page and the next search; `''` for none. */
export function noteView(name: ViewName, value: string): void {
  noteInAddress(name, value === '' ? null : value);
  chooseView(name, value);
}

/** For the next search. */
export function chooseView(name: ViewName, value: string): void {
  const form = document.querySelector<HTMLFormElement>('#query')!;
  form.querySelector(`input[type=hidden][name=${name}]`)?.remove();
  if (value === '') return;
  const box = document.createElement('input');
  Object.assign(box, { type: 'hidden', name, value });
  form.append(box);
}

/** A choice that stands in the address only; null for none. */
export function noteInAddress(name: string, value: string | null): void {
  const address = new URL(location.href);
  if (value === null) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  history.replaceState(history.state, '', address);
}
