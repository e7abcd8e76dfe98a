/**
 * What cells, rows and blocks share when they are changed: one list of changes, one line of messages, one undo.
 */
import type { Changes } from './changes.ts';
import type { GridData } from './model.ts';
import type { Notices } from './notices.ts';
import type { RowRequests } from './row-requests.ts';
import type { RowStore } from './rows.ts';
import type { GridTable } from './table.ts';
import type { UndoControls } from './undo-controls.ts';
import type { UndoHistory } from './undo-history.ts';

/** Given to everything that changes rows. */
export interface WritingContext {
  readonly data: GridData;
  readonly store: RowStore;
  readonly table: GridTable;
  readonly notices: Notices;
  readonly requests: RowRequests;
  readonly changes: Changes;
  readonly history: UndoHistory;
  readonly undo: UndoControls;
  /** Counts as a change on its way. */
  run<T>(change: () => Promise<T>): Promise<T>;
  /** After every change: buttons, and panels about the rows, are out of date. */
  changed(): void;
}
