/** Resolving edit conflicts: what was seen, what is in the file now, and what was to be written. */
import {
  cellOf,
  type CellValue,
  countText,
  type GridRow,
  idOf,
  lineText,
  plainText,
} from '../../../pages/grid/model.ts';
import { closer, make, makeTable, openDialog } from '../../shared/element.ts';
import type { Values } from './row-edits.ts';

/** `keep` leaves the rows as they are now. */
export type Decision = 'keep' | 'overwrite' | 'cancel';

export interface RowConflict {
  readonly before: GridRow;
  /** Absent: the row was deleted. */
  readonly present: GridRow | undefined;
  readonly values: Values;
}

const MAX_LINES = 12;
const MAX_OTHERS = 4;

/** One typed value, or the values of a row's form. */
export function askAboutRow(file: string, conflict: RowConflict): Promise<Decision> {
  const { before, present } = conflict;
  const others = otherCells(conflict);
  const text = `Row ${idOf(before)} is different elsewhere too: ${others.join('; ')}`;
  return decide(
    file,
    [
      tableOf(linesOf(conflict, plainText), 'You typed'),
      others.length > 0 ? make('p.notice', text) : null,
    ],
    {
      keep: 'Reload',
      overwrite: present === undefined ? null : 'Overwrite with mine',
      cancel: 'Back to typing',
    },
  );
}

/** One question about many rows. */
export function askAboutRows(file: string, conflicts: readonly RowConflict[]): Promise<Decision> {
  const lines = conflicts.flatMap((one) => linesOf(one, lineText, ` of row ${idOf(one.before)}`));
  const more = lines.length - MAX_LINES;
  const [are, them] = conflicts.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const text = `${countText(conflicts.length)} ${are} not as you saw ${them}; the others are changed as you wanted.`;
  const hasRows = conflicts.some(({ present }) => present !== undefined);
  return decide(
    file,
    [
      make('p', text),
      tableOf(lines.slice(0, MAX_LINES), 'Yours'),
      more > 0 ? make('p.fine', `and ${countText(more, 'other value')}`) : null,
    ],
    {
      keep: 'Leave these as they are',
      overwrite: hasRows ? 'Overwrite with mine' : null,
      cancel: 'Stop',
    },
  );
}

function linesOf(
  { before, present, values }: RowConflict,
  textOf: (value: CellValue) => string,
  place = '',
): HTMLElement[] {
  return Object.entries(values).map(([name, mine]) => {
    const now = present === undefined ? 'the row is gone' : textOf(cellOf(present, name));
    const texts = [textOf(cellOf(before, name)), now, textOf(mine)];
    const cells = texts.map((text) => make('td', text));
    return make('tr', make('th', { scope: 'row' }, name + place), cells);
  });
}

function tableOf(lines: readonly HTMLElement[], mine: string): HTMLElement {
  return make('div.scroll', makeTable(['', 'You saw', 'In the file now', mine], lines));
}

function otherCells({ before, present, values }: RowConflict): string[] {
  if (present === undefined) return [];
  const now = (name: string): string => plainText(cellOf(present, name));
  return Object.keys(present)
    .filter((name) => !Object.hasOwn(values, name) && plainText(cellOf(before, name)) !== now(name))
    .slice(0, MAX_OTHERS)
    .map((name) => `${name} is ${now(name).slice(0, 60) || 'blank'}`);
}

function decide(
  file: string,
  content: readonly (HTMLElement | null)[],
  labels: Readonly<Record<Decision, string | null>>,
): Promise<Decision> {
  const { promise, resolve } = Promise.withResolvers<Decision>();
  const button = (chosen: Decision, attributes = {}): HTMLElement | null => {
    const label = labels[chosen];
    return label === null ? null : closer(label, () => resolve(chosen), attributes);
  };
  const buttons = [
    button('keep', { autofocus: true }),
    button('overwrite', { class: 'small danger' }),
    button('cancel'),
  ];
  openDialog(
    `${file} was changed by someone else`,
    { class: 'grid-dialog broad', onclose: () => resolve('cancel') },
    content,
    make('p.dialog-actions', buttons),
  );
  return promise;
}
