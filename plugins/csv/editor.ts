/**
 * Edits a CSV file: only bytes of touched rows change.
 *
 * Only segments with touched rows are read. Untouched cells keep their spelling; new rows follow
 * the last row, before trailing blank lines. A file without a final line end keeps none: removing
 * its last row also removes the line end before it.
 *
 * Existing segments keep number and order, possibly without rows, so that what is known of a
 * segment (its ids) stays true; only appended rows add segments.
 */
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import type { EditPlan, TableChanges, TableLayout } from '../../src/tables/types.ts';
import { DELIMITERS, guessDelimiter, SAMPLE_BYTES } from './delimiter.ts';
import type { Dialect } from './dialect.ts';
import { FileEdit } from './file-edit.ts';
import { bytesOf } from './new-file.ts';
import { sizeOf, slicePieces } from './piece-list.ts';

/**
 * Throws `schema-mismatch` for text the file could not return and for rows added to a file without
 * a header, `conflict` when the file is not the layout's. Reads the touched segments, plus 64 KiB
 * when a new cell contains another possible delimiter.
 */
export async function editCsv(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  const plan = await new FileEdit(source, layout, changes, false).run();
  const dialect = layout.dialect as unknown as Dialect;
  if (!mayChangeGuess(dialect, plan) || (await isGuessKept(source, dialect, plan.pieces)))
    return plan;
  return new FileEdit(source, layout, changes, true).run();
}

function mayChangeGuess(dialect: Dialect, plan: EditPlan): boolean {
  if (!dialect.isGuessed) return false;
  const others = DELIMITERS.filter((candidate) => candidate !== dialect.delimiter);
  return plan.cells.some(
    ({ after }) => typeof after === 'string' && others.some((other) => after.includes(other)),
  );
}

async function isGuessKept(
  source: FileSource,
  { headerOffset, encoding, delimiter }: Dialect,
  pieces: readonly Piece[],
): Promise<boolean> {
  const end = headerOffset + SAMPLE_BYTES;
  const sample = await bytesOf(source, slicePieces(pieces, headerOffset, end));
  const isWhole = sizeOf(pieces) <= end;
  return guessDelimiter(sample, encoding, headerOffset, isWhole) === delimiter;
}
