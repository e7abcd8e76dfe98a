/** Memory: the shared strings, a window on the XML, one segment of rows. */
import type { FileSource } from '../../../src/base/files/file-source.ts';
import { type Cell, ReadAgain, type ReadOptions, type RowSink } from '../../../src/tables/types.ts';
import { expand } from '../archive/expansion.ts';
import { rangeText } from '../cell-reference.ts';
import { missingResults } from '../formulas/recalculate.ts';
import { TableSink } from '../table-sink.ts';
import type { SumFormula } from '../total-row.ts';
import { textOf } from '../xml/xml-text.ts';
import { CellContent } from './cell-content.ts';
import { tableNamed } from './named-tables.ts';
import { openPackage } from './package.ts';
import type { RowScanner } from './row-scanner.ts';
import { readSharedStrings } from './shared-strings.ts';
import { ABSENT } from './sheet-tag.ts';
import { SheetWindow } from './sheet-window.ts';
import { readDateKinds } from './styles.ts';

/** The worksheet `options.sheet`, or the first. Throws `unreadable-file`. */
export async function readSheet(
  source: FileSource,
  options: ReadOptions,
  sink: RowSink,
  maxBytes: number,
): Promise<void> {
  const book = await openPackage(source, maxBytes);
  const { sheet, table: named } = await tableNamed(book, options.sheet);
  const strings = await readSharedStrings(book);
  const content = new CellContent({
    part: sheet.entry.name,
    kinds: await readDateKinds(book),
    is1904: book.is1904,
    sharedString: (index) => strings[index],
    results: options.learned?.calculated,
  });
  const table = new TableSink(
    sink,
    { format: 'xlsx', sheet: sheet.name, table: named?.name ?? null, grows: named?.grows ?? false },
    named === null
      ? options
      : { range: rangeText(named.range), look: options.look, learned: options.learned },
  );
  const window = new SheetWindow(sheet.entry.name, expand(book.archive, sheet.entry));
  try {
    const { data } = await window.start();
    if (data !== null && !data.isEmpty) {
      window.position = data.to;
      await window.eachRow((row) => {
        table.row(
          row.number,
          window.offsetOf(row.to),
          (width) => cellsOf(window.text, row, width, content),
          sumsOf(window.text, row),
        );
        options.look?.(row.number, cellsOf(window.text, row, Infinity, content));
      });
    }
    await window.drain();
    const { uncalculated, calculated } = content;
    const isWanted = options.calculatesFormulas && options.learned?.calculated === undefined;
    // Whoever looks at rows does not read the table.
    if (isWanted && uncalculated.size > 0 && options.look === undefined) {
      const results = await missingResults(book, book.worksheets.indexOf(sheet));
      throw new ReadAgain({ ...options.learned, calculated: results });
    }
    table.end(window.offset, { uncalculated, calculated });
  } finally {
    await window.close();
  }
}

/** Found again in the rows of whole columns of sums, so nothing is made for other rows. */
function sumsOf(text: string, { cells, count }: RowScanner): readonly SumFormula[] {
  let sums: SumFormula[] | undefined;
  for (let index = 0; index < count; index++) {
    const { column, formulaFrom, formulaTo } = cells[index]!;
    if (formulaFrom === ABSENT) continue;
    const found = SUM.exec(text.slice(formulaFrom, formulaTo));
    if (found !== null) (sums ??= []).push({ column, text: textOf(found[1]!) });
  }
  return sums ?? NO_SUMS;
}

const SUM = /^<[^>]*>\s*((?:SUM|SUBTOTAL)\([^<]*)</i;
const NO_SUMS: readonly SumFormula[] = [];

function cellsOf(text: string, row: RowScanner, width: number, content: CellContent): Cell[] {
  const cells: Cell[] = [];
  for (let index = 0; index < row.count; index++) {
    const cell = row.cells[index]!;
    if (cell.column >= width) continue;
    while (cells.length < cell.column) cells.push('');
    cells[cell.column] = content.value(text, cell);
  }
  return cells;
}
