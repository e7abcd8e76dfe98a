/** How a reader wants a result shown: it stands in the address, and goes along with the next search. */

type ViewName = 'chart' | 'log' | 'min' | 'max' | 'by' | 'columns' | 'refresh';

export function viewChoice(name: ViewName): string {
  return new URLSearchParams(location.search).get(name) ?? '';
}

export function noteView(name: ViewName, value: string): void {
  noteInAddress(name, value === '' ? null : value);
  const form = document.querySelector<HTMLFormElement>('#query');
  if (form === null) return;
  let box = form.querySelector<HTMLInputElement>(`input[type=hidden][name=${name}]`);
  if (value === '') {
    box?.remove();
    return;
  }
  if (box === null) {
    box = document.createElement('input');
    Object.assign(box, { type: 'hidden', name });
    form.append(box);
  }
  box.value = value;
}

/** A choice that stands in the address only; null for none. */
export function noteInAddress(name: string, value: string | null): void {
  const address = new URL(location.href);
  if (value === null) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  history.replaceState(history.state, '', address);
}
