/**
 * The filter of a view as JSON, for what the menus of the columns have no words for.
 */
import { make, makeDialog, quietButton } from './element.ts';

/** Opens on a text, right or wrong; `take` gets what the person makes of it. */
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
