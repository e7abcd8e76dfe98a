/** Writes new results into the formula cells of a worksheet; all other bytes stay. */
import { sheetText } from '../../../src/tables/encode/sheet-text.ts';
import type { Cell } from '../../../src/tables/types.ts';
import { TimeSlice } from '../../../src/base/scheduling/time-slice.ts';
import { type PackedPart, PartSplice } from '../archive/part-writer.ts';
import { serialText } from '../serial-date.ts';
import { CellContent } from '../xlsx/cell-content.ts';
import type { CellSpan, RowScanner } from '../xlsx/row-scanner.ts';
import { ABSENT } from '../xlsx/sheet-tag.ts';
import { SheetWindow } from '../xlsx/sheet-window.ts';
import type { DateKinds } from '../xlsx/styles.ts';
import { afterTag, type Span } from '../xml/xml-cursor.ts';
import { CellError, rawValue } from './cell-values.ts';
import type { Result } from './evaluation.ts';
import { textOfCell } from './formula-cells.ts';
import { nearlyEqual } from './operands.ts';
import type { EditedBook, NewResult } from './recalculate.ts';
import type { Area } from './scope.ts';

export interface ChangedResult {
  readonly row: number;
  readonly column: number;
  /** As a reader delivers them; undefined: not known. */
  readonly before: Cell | undefined;
  readonly after: Cell;
  readonly isCalculated: boolean;
}

interface WrittenResults {
  readonly part: PackedPart;
  readonly cells: readonly ChangedResult[];
}

/** Null when every result was there already. Throws `unreadable-file`. */
export async function writeResults(
  { book, parts }: EditedBook,
  sheet: number,
  results: ReadonlyMap<number, ReadonlyMap<number, NewResult>>,
  kinds: DateKinds,
): Promise<WrittenResults | null> {
  const { entry } = book.worksheets[sheet]!;
  const filled = [...results.values()].flatMap((row) =>
    [...row.values()].flatMap(({ cell }) => (cell.filled ? [{ area: cell.filled, cell }] : [])),
  );
  const isFilled = (row: number): boolean =>
    filled.some(({ area }) => area.top <= row && row <= area.bottom);
  const splice = new PartSplice(entry.method);
  const window = new SheetWindow(entry.name, splice.watched(parts.expand(entry)));
  const { is1904 } = book;
  const content = new CellContent({ part: entry.name, kinds, is1904, sharedString: () => '' });
  const slice = new TimeSlice();
  const cells: ChangedResult[] = [];
  const rest = async (offset: number): Promise<void> => {
    if (splice.isFull(offset)) await splice.settle(offset);
    if (slice.isOver) await slice.rest();
  };

  const change = (span: CellSpan, { cell, result }: NewResult): void => {
    const { text, part } = window;
    const { row, column } = span;
    if (isSame(result, span, rawValue(text, span, part))) return;
    const before = span.type === 'shared' ? undefined : content.value(text, span);
    const after =
      result === undefined ? `=${textOfCell(cell)}` : shown(result, kinds[span.style], is1904);
    cells.push({ row, column, before, after, isCalculated: result !== undefined });
    const markup = withResult(text, span, result);
    splice.replace(
      window.offsetOf(span.start),
      window.offsetOf(span.end),
      Buffer.from(markup, 'latin1'),
    );
  };
  const visit = (row: RowScanner): Promise<void> | void => {
    const wanted = results.get(row.number);
    const covering = filled.filter(
      ({ area }) => area.top <= row.number && row.number <= area.bottom,
    );
    if (wanted !== undefined || covering.length > 0) {
      for (const span of row.cells.slice(0, row.count).sort((a, b) => a.start - b.start)) {
        const own = wanted?.get(span.column);
        const filler = covering.find(({ area }) => isInColumns(span.column, area));
        if (own !== undefined) change(span, own);
        else if (filler !== undefined) change(span, { cell: filler.cell, result: undefined });
      }
    }
    const offset = window.offsetOf(row.to);
    if (splice.isFull(offset) || slice.isOver) return rest(offset);
  };
  try {
    const { data } = await window.start();
    if (data !== null && !data.isEmpty) {
      window.position = data.to;
      await window.eachRow(visit, (row) => results.has(row) || isFilled(row));
    }
    await window.drain();
    return cells.length === 0 ? null : { part: await splice.finish(), cells };
  } finally {
    await window.close();
    splice.close();
  }
}

/** Numbers that differ in the last digit only are not worth a change. */
function isSame(result: Result, span: CellSpan, present: ReturnType<typeof rawValue>): boolean {
  if (result === undefined) return span.valueFrom === ABSENT && span.inlineFrom === ABSENT;
  if (typeof result !== 'number' || typeof present !== 'number') return result === present;
  return nearlyEqual(result, present);
}

function isInColumns(column: number, { left, right }: Area): boolean {
  return left <= column && column <= right;
}

function shown(
  result: Exclude<Result, undefined>,
  kind: DateKinds[number] | undefined,
  is1904: boolean,
): Cell {
  if (result instanceof CellError) return result.text;
  if (typeof result !== 'number' || kind === undefined) return result;
  return serialText(result, kind, is1904) ?? result;
}

/** The element of a cell with another value and type; one character per byte. */
function withResult(text: string, span: CellSpan, result: Result): string {
  const open = afterTag(text, span.start);
  const type =
    typeof result === 'string'
      ? ' t="str"'
      : typeof result === 'boolean'
        ? ' t="b"'
        : result instanceof CellError
          ? ' t="e"'
          : '';
  const tag = text.slice(span.start, open).replace(/\s+t\s*=\s*(?:"[^"]*"|'[^']*')/, '');
  const opened = tag.replace(/\s*\/?>$/, `${type}>`);
  const prefix = /^<([^\s:>]+:)?c/.exec(tag)?.[1] ?? '';
  const hole = valueSpan(text, span);
  const value = result === undefined ? '' : `<${prefix}v>${valueText(result)}</${prefix}v>`;
  return opened + text.slice(open, hole.from) + value + text.slice(hole.to, span.end);
}

/** Where the value stands, or where it belongs: behind the formula. */
function valueSpan(text: string, span: CellSpan): Span {
  const { valueFrom, valueTo, formulaTo, inlineFrom, inlineTo } = span;
  if (valueFrom !== ABSENT) {
    const from = text.lastIndexOf('<', valueFrom - 1);
    const isEmpty = text[valueFrom - 2] === '/';
    return { from, to: isEmpty ? valueFrom : text.indexOf('>', valueTo) + 1 };
  }
  if (inlineFrom !== ABSENT) return { from: inlineFrom, to: inlineTo };
  return { from: formulaTo, to: formulaTo };
}

function valueText(result: Exclude<Result, undefined>): string {
  if (typeof result === 'number') return String(result).toUpperCase();
  if (typeof result === 'boolean') return result ? '1' : '0';
  const text = sheetText(result instanceof CellError ? result.text : result);
  // The parts are held as one character per byte.
  return Buffer.from(text).toString('latin1');
}
