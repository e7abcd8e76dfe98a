/** Resolving edit conflicts: what was seen, what is in the file now, and what was to be written. */
import { make, makeDialog, quietButton } from '../element.ts';
import {
  cellOf,
  countText,
  type GridRow,
  idOf,
  lineText,
  plainText,
} from '../../../pages/grid/model.ts';
import type { Values } from './row-edits.ts';

type Decision = 'reload' | 'overwrite' | 'cancel';

export function askAboutConflict(
  file: string,
  before: GridRow,
  present: GridRow | undefined,
  values: Values,
): Promise<Decision> {
  const lines = Object.entries(values).map(([name, mine]) =>
    make(
      'tr',
      {},
      make('th', { scope: 'row' }, name),
      make('td', {}, plainText(cellOf(before, name))),
      make('td', {}, present === undefined ? 'the row is gone' : plainText(cellOf(present, name))),
      make('td', {}, plainText(mine)),
    ),
  );
  const head = ['', 'You saw', 'In the file now', 'You typed'].map((text) =>
    make('th', { scope: 'col' }, text),
  );
  const others = present === undefined ? [] : otherCells(before, present, values);
  return new Promise((resolve) => {
    let decision: Decision = 'cancel';
    const choose = (chosen: Decision) => (): void => {
      decision = chosen;
      dialog.close();
    };
    const dialog = makeDialog(
      `${file} was changed by someone else`,
      make(
        'div',
        { class: 'scroll' },
        make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...lines)),
      ),
      others.length > 0
        ? make(
            'p',
            { class: 'notice' },
            `Row ${idOf(before)} is different elsewhere too: ${others.join('; ')}`,
          )
        : null,
      make(
        'p',
        { class: 'dialog-actions' },
        quietButton('Reload', choose('reload'), { autofocus: true }),
        present === undefined
          ? null
          : quietButton('Overwrite with mine', choose('overwrite'), { class: 'small danger' }),
        quietButton('Back to typing', choose('cancel')),
      ),
    );
    dialog.classList.add('broad');
    dialog.addEventListener('close', () => resolve(decision));
    dialog.showModal();
  });
}

const MAX_OTHERS = 4;

function otherCells(before: GridRow, present: GridRow, values: Values): string[] {
  const changed = Object.keys(present).filter(
    (name) =>
      !Object.hasOwn(values, name) &&
      plainText(cellOf(before, name)) !== plainText(cellOf(present, name)),
  );
  return changed
    .slice(0, MAX_OTHERS)
    .map((name) => `${name} is ${plainText(cellOf(present, name)).slice(0, 60) || 'blank'}`);
}

export interface RowConflict {
  readonly before: GridRow;
  /** Absent: the row was deleted. */
  readonly present: GridRow | undefined;
  readonly values: Values;
}

const MAX_LINES = 12;

/** One question about many rows; `keep` leaves all as they are now. */
export function askAboutRows(
  file: string,
  conflicts: readonly RowConflict[],
): Promise<'keep' | 'overwrite' | 'cancel'> {
  const cells = conflicts.flatMap(({ before, present, values }) =>
    Object.keys(values).map((name) => ({ before, present, values, name })),
  );
  const lines = cells
    .slice(0, MAX_LINES)
    .map(({ before, present, values, name }) =>
      make(
        'tr',
        {},
        make('th', { scope: 'row' }, `${name} of row ${idOf(before)}`),
        make('td', {}, lineText(cellOf(before, name))),
        make('td', {}, present === undefined ? 'the row is gone' : lineText(cellOf(present, name))),
        make('td', {}, lineText(cellOf(values as GridRow, name))),
      ),
    );
  const head = ['', 'You saw', 'In the file now', 'Yours'].map((text) =>
    make('th', { scope: 'col' }, text),
  );
  const more = cells.length - lines.length;
  const hasRows = conflicts.some(({ present }) => present !== undefined);
  return new Promise((resolve) => {
    let decision: 'keep' | 'overwrite' | 'cancel' = 'cancel';
    const choose = (chosen: typeof decision) => (): void => {
      decision = chosen;
      dialog.close();
    };
    const dialog = makeDialog(
      `${file} was changed by someone else`,
      make(
        'p',
        {},
        `${countText(conflicts.length)} ${conflicts.length === 1 ? 'is' : 'are'} not as you saw ${conflicts.length === 1 ? 'it' : 'them'}; the others are changed as you wanted.`,
      ),
      make(
        'div',
        { class: 'scroll' },
        make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...lines)),
      ),
      more > 0 ? make('p', { class: 'fine' }, `and ${countText(more, 'other value')}`) : null,
      make(
        'p',
        { class: 'dialog-actions' },
        quietButton('Leave these as they are', choose('keep'), { autofocus: true }),
        hasRows
          ? quietButton('Overwrite with mine', choose('overwrite'), { class: 'small danger' })
          : null,
        quietButton('Stop', choose('cancel')),
      ),
    );
    dialog.classList.add('broad');
    dialog.addEventListener('close', () => resolve(decision));
    dialog.showModal();
  });
}
