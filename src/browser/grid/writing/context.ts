/** Shared by cell, row and block changes: one change list, one message line, one undo history. */
import type { Changes } from './changes.ts';
import type { GridData } from '../../../pages/grid/model.ts';
import type { Notices } from '../notices.ts';
import type { RowRequests } from './row-requests.ts';
import type { RowStore } from '../table/rows.ts';
import type { GridTable } from '../table/table.ts';
import type { UndoControls } from './undo-controls.ts';
import type { UndoHistory } from './undo-history.ts';

export interface WritingContext {
  readonly data: GridData;
  readonly store: RowStore;
  readonly table: GridTable;
  readonly notices: Notices;
  readonly requests: RowRequests;
  readonly changes: Changes;
  readonly history: UndoHistory;
  readonly undo: UndoControls;
  run<T>(change: () => Promise<T>): Promise<T>;
  changed(): void;
}
