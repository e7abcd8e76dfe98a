/** Each returns the changed part of the view. */
import type { SortStep, View } from '../../../pages/grid/view.ts';

/** Cycles ascending, descending, file order; `isMore` keeps the other sort columns. */
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

/** `isMore` keeps the earlier sort columns, which come first. */
export function sortedBy(
  { sort }: Pick<View, 'sort'>,
  step: SortStep,
  isMore: boolean,
): Pick<View, 'sort'> {
  const others = isMore ? sort.filter(({ column }) => column !== step.column) : [];
  return { sort: [...others, step] };
}

export function pinToggled({ pinned }: Pick<View, 'pinned'>, column: string): Pick<View, 'pinned'> {
  return {
    pinned: pinned.includes(column) ? pinned.filter((one) => one !== column) : [...pinned, column],
  };
}

/** Moves among the `shown` columns, to the right when positive; null when it is not shown. */
export function columnMoved(
  shown: readonly string[],
  column: string,
  by: number,
): Pick<View, 'columns'> | null {
  const at = shown.indexOf(column);
  if (at < 0) return null;
  return { columns: shown.toSpliced(at, 1).toSpliced(Math.max(0, at + by), 0, column) };
}

/** Null for the last column. */
export function columnHidden(
  shown: readonly string[],
  column: string,
): Pick<View, 'columns'> | null {
  return shown.length > 1 ? { columns: shown.filter((one) => one !== column) } : null;
}
