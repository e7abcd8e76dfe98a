/**
 * What a person does to the columns of a view, each as the part of the view that is another afterwards.
 */
import type { SortStep, View } from './view.ts';

/** After a press on a head: upwards, downwards, as in the file; `isMore` keeps the other columns of the order. */
export function sortToggled(
  { sort }: Pick<View, 'sort'>,
  column: string,
  isMore: boolean,
): Pick<View, 'sort'> {
  const at = sort.findIndex((step) => step.column === column);
  const present = sort[at];
  const next: SortStep[] =
    present === undefined
      ? [{ column, isDescending: false }]
      : present.isDescending
        ? []
        : [{ column, isDescending: true }];
  if (!isMore) return { sort: next };
  return { sort: present === undefined ? [...sort, ...next] : sort.toSpliced(at, 1, ...next) };
}

/** Sorted by a column; `isMore` keeps the columns of the order before it. */
export function sortedBy(
  { sort }: Pick<View, 'sort'>,
  step: SortStep,
  isMore: boolean,
): Pick<View, 'sort'> {
  const others = isMore ? sort.filter(({ column }) => column !== step.column) : [];
  return { sort: [...others, step] };
}

/** A column pinned, or no longer. */
export function pinToggled({ pinned }: Pick<View, 'pinned'>, column: string): Pick<View, 'pinned'> {
  return {
    pinned: pinned.includes(column) ? pinned.filter((one) => one !== column) : [...pinned, column],
  };
}

/** A column so many places to the right, or to the left, among those `shown`; null when it is not among them. */
export function columnMoved(
  shown: readonly string[],
  column: string,
  by: number,
): Pick<View, 'columns'> | null {
  const at = shown.indexOf(column);
  if (at < 0) return null;
  return { columns: shown.toSpliced(at, 1).toSpliced(Math.max(0, at + by), 0, column) };
}

/** Without a column; null for the last one. */
export function columnHidden(
  shown: readonly string[],
  column: string,
): Pick<View, 'columns'> | null {
  return shown.length > 1 ? { columns: shown.filter((one) => one !== column) } : null;
}
