/**
 * The edited form of a CSV file: only bytes of touched rows change (DS-86).
 *
 * Touched rows are found through the layout's segments and only those segments are read. Untouched cells keep their
 * spelling; new rows stand after the last row, before blank lines that follow it. A file that ends without a line end
 * still does: removing its last row also removes the line end before it.
 *
 * The layout keeps its segments in number and order, possibly without rows; only appended rows add segments at the
 * end. So what is known of a segment (the ids in it) stays true.
 */
import type { FileSource } from '../../src/base/file-source.ts';
import type { Piece } from '../../src/base/piece-writer.ts';
import type { EditPlan, TableChanges, TableLayout } from '../../src/dataset/types.ts';
import { DELIMITERS, guessDelimiter, SAMPLE_BYTES } from './delimiter.ts';
import { type Dialect, storedDialect } from './dialect.ts';
import { FileEdit } from './file-edit.ts';
import { bytesOf } from './new-file.ts';
import { sizeOf, slicePieces } from './piece-list.ts';

/**
 * The file after `changes` as pieces, its layout, and every changed cell. Throws `schema-mismatch` for text the file
 * could not give back and for rows added to a file without a header, `conflict` when the file is not the one the
 * layout describes. Costs reading the touched segments, plus 64 KiB when a new cell holds a character that could be
 * taken for the delimiter.
 */
export async function editCsv(
  source: FileSource,
  layout: TableLayout,
  changes: TableChanges,
): Promise<EditPlan> {
  const plan = await new FileEdit(source, layout, changes, false).run();
  const dialect = storedDialect(layout);
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

/** Whether a reader of the new file would guess the same delimiter. */
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
