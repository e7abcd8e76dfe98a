/**
 * All entries of a resource are one range, so that a right to a resource is a range of row ids for SQLite. Resource
 * and entry are multiplied, not shifted: together they take up to 53 bits.
 */

const ROOM = 2 ** 32;

/** Rows with larger ids are not indexed. */
export const MAX_ROW_ID = ROOM - 1;

/** After this number the index is built anew; each reading of a changed resource takes one. */
export const MAX_RESOURCE_NO = 2 ** 21 - 1;

/** Rows count from 1; entry 0 of a dataset is the dataset itself, sections of a document count from 0. */
export function entryId(no: number, row: number): number {
  return no * ROOM + row;
}

export function resourceNoOf(id: number): number {
  return Math.floor(id / ROOM);
}

export function rowOf(id: number): number {
  return id % ROOM;
}

/** All inclusive. */
export function rangeOf(first: number, last = first): [number, number] {
  return [entryId(first, 0), entryId(last, MAX_ROW_ID)];
}
