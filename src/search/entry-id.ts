/**
 * The number of an entry in the index: which resource it belongs to, and which row or section of it.
 *
 * All entries of a resource stand in one range of numbers, so that a right to a resource is a range of row ids for
 * SQLite. The parts are multiplied, not shifted: together they take up to 53 bits.
 */

const ROOM = 2 ** 32;

/** Row ids past this one are left out of the index. */
export const MAX_ROW_ID = ROOM - 1;

/** Numbers of resources given out before the index is made anew; each reading of a changed resource takes one. */
export const MAX_RESOURCE_NO = 2 ** 21 - 1;

/** Rows are numbered from 1; entry 0 of a dataset is the dataset itself, sections of a document count from 0. */
export function entryId(no: number, row: number): number {
  return no * ROOM + row;
}

/** The resource an entry belongs to. */
export function resourceNoOf(id: number): number {
  return Math.floor(id / ROOM);
}

/** The row id, or the number of the section. */
export function rowOf(id: number): number {
  return id % ROOM;
}

/** First and last possible entry of the resources from `first` to `last`, both included. */
export function rangeOf(first: number, last = first): [number, number] {
  return [entryId(first, 0), entryId(last, MAX_ROW_ID)];
}
