/** The filter as JSON, for conditions the column menus cannot express. */
import { make, makeDialog, quietButton } from '../element.ts';

export function openFilter(text: string, take: (filter: string) => void): void {
  const box = make('textarea', {
    rows: 5,
    'aria-label': 'Filter as a JSON object',
    spellcheck: 'false',
    class: 'code',
  });
  box.value = text;
  box.placeholder = '{"price":{"$gt":50}}';
  const form = make(
    'form',
    {},
    box,
    make(
      'p',
      { class: 'dialog-actions' },
      make('button', { type: 'submit', class: 'small' }, 'Filter'),
      quietButton('Cancel', () => dialog.close()),
    ),
  );
  const dialog = makeDialog('Filter as JSON', form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    dialog.close();
    take(box.value.trim());
  });
  dialog.showModal();
}
