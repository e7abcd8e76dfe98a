/** References in the XML around the cells: of worksheets, tables, charts, notes and the workbook. */
import { sheetText } from '../../../src/tables/encode/sheet-text.ts';
import { XmlCursor } from '../xml/xml-cursor.ts';
import { textOf, unescaped } from '../xml/xml-text.ts';
import {
  CannotShift,
  type Removal,
  shiftedFormula,
  shiftedFrom,
  shiftedRange,
} from './row-shift.ts';

/** What refers to rows in ways that are not followed. */
const UNMOVABLE = new Set(
  (
    'scenarios dataConsolidate customSheetViews cellWatches smartTags oleObjects controls webPublishItems ' +
    'AlternateContent pivotTableDefinition pivotSelection'
  ).split(' '),
);
/** Elements whose text is a formula; its cells are those of `sqref` where there is one. */
const FORMULAS = new Set([
  'f',
  'formula',
  'formula1',
  'formula2',
  'calculatedColumnFormula',
  'totalsRowFormula',
]);
/** Elements that go when their cells are gone. */
const REMOVABLE = new Set(['mergeCell', 'hyperlink', 'comment']);
/** Without a child they may not stand. */
const EMPTY = /<((?:[\w.-]+:)?(?:mergeCells|hyperlinks))(?:\s[^>]*)?>\s*<\/\1>/g;

interface Patch {
  readonly from: number;
  readonly to: number;
  readonly markup: string;
}

interface Place {
  /** Lower-case name of the worksheet the references without a sheet are on. */
  readonly own: string;
  readonly part: string;
}

/** `text` is one character per byte and may end early. Throws `CannotShift` and `unreadable-file`. */
export function shiftedMarkup(text: string, { own, part }: Place, removal: Removal): string {
  const cursor = new XmlCursor(text, part);
  const isTarget = own === removal.target;
  const patches: Patch[] = [];
  let cells: { readonly first: number; readonly last: number } | null = null;
  let merged = 0;
  while (cursor.next()) {
    const { local } = cursor;
    if (cursor.kind === 'close') {
      if (local === 'conditionalFormatting' || local === 'dataValidation') cells = null;
      continue;
    }
    if (isTarget && UNMOVABLE.has(local)) throw new CannotShift(`the element ${local}`);
    if (isTarget) {
      const sqref = cursor.attribute('sqref');
      if (local === 'conditionalFormatting' || local === 'dataValidation') {
        // Extensions say it in an element after their formulas.
        const later = /<(?:[\w.-]+:)?sqref>([^<]*)</.exec(text.slice(cursor.to));
        const list = sqref ?? later?.[1];
        cells = list === undefined ? null : firstRows(list);
      }
      const removed = shiftedAttributes(cursor, removal, patches);
      if (removed) {
        const { from } = cursor;
        cursor.skip();
        patches.push({ from, to: cursor.to, markup: '' });
        merged++;
        continue;
      }
    }
    if (local === 'hyperlink') shiftedLocation(cursor, own, removal, patches);
    if (cursor.kind === 'empty') continue;
    // Print areas and filters have no relative rows, even where they are written as such.
    const isName = local === 'definedName' && !/^_xlnm\./i.test(cursor.attribute('name') ?? '');
    const isFormula = local === 'definedName' || FORMULAS.has(local);
    const isList = local === 'sqref' && isTarget;
    if (!isList && !isFormula) continue;
    const from = cursor.to;
    if (!cursor.skip()) break;
    const old = unescaped(textOf(text.slice(from, cursor.from)));
    const now = isList
      ? shiftedList(old, removal)
      : cells !== null
        ? shiftedFrom(old, own, removal, cells)
        : shiftedFormula(old, own, removal, isName);
    if (now !== old) patches.push({ from, to: cursor.from, markup: encoded(sheetText(now)) });
  }
  if (patches.length === 0) return text;
  const shifted = patched(text, patches);
  return merged === 0 ? shifted : recounted(shifted.replaceAll(EMPTY, ''));
}

/** True when the cells of the element are gone. */
function shiftedAttributes(cursor: XmlCursor, removal: Removal, patches: Patch[]): boolean {
  const { local } = cursor;
  const { shift } = removal;
  for (const name of ['ref', 'sqref', 'activeCell', 'topLeftCell']) {
    const value = cursor.attribute(name);
    const span = cursor.attributeSpan(name);
    if (value === undefined || span === null || value === '') continue;
    const isView = local === 'selection' || local === 'pane' || local === 'sheetView';
    if (local === 'mergeCell' && isCutAtTop(value, removal)) throw new CannotShift('a merged cell');
    const now = isView
      ? shiftedView(value, removal)
      : shiftedList(value, removal, REMOVABLE.has(local));
    if (now === '' || (local === 'mergeCell' && isSingle(now))) return true;
    if (now !== value) patches.push({ ...span, markup: `${name}="${now}"` });
  }
  if (local === 'brk') {
    const row = Number(cursor.attribute('id'));
    const span = cursor.attributeSpan('id');
    // Of columns, too, but those have no more than 16,384.
    if (span !== null && cursor.depth > 0 && isOfRows(cursor)) {
      patches.push({ ...span, markup: `id="${row - shift.before(row + 1)}"` });
    }
  }
  return false;
}

/** Breaks between rows go over all columns. */
function isOfRows(cursor: XmlCursor): boolean {
  return Number(cursor.attribute('max') ?? 0) <= 16_383;
}

/** The shown cell may be anywhere; one that is gone gives way to the next. */
function shiftedView(value: string, { shift }: Removal): string {
  return value
    .split(' ')
    .map((range) => shiftedRange(range, shift) ?? range)
    .join(' ');
}

/** Throws when all are gone, unless `mayVanish`. */
function shiftedList(value: string, { shift }: Removal, mayVanish = false): string {
  const left = value.split(/\s+/).flatMap((range) => shiftedRange(range, shift) ?? []);
  if (left.length === 0 && !mayVanish) throw new CannotShift('a list of cells');
  return left.join(' ');
}

/** Its value stands in the first row. */
function isCutAtTop(range: string, { shift }: Removal): boolean {
  const rows = firstRows(range);
  return rows !== null && shift.has(rows.first) && shift.span(rows.first, rows.last) !== null;
}

function isSingle(range: string): boolean {
  const [first, last] = range.split(':');
  return last === undefined || first === last;
}

/** Of the first range. */
function firstRows(list: string): { readonly first: number; readonly last: number } | null {
  const rows = list
    .split(' ', 1)[0]!
    .split(':')
    .map((end) => Number(/\d+/.exec(end)?.[0]));
  if (rows.some((row) => row !== row)) return null;
  return { first: Math.min(...rows), last: Math.max(...rows) };
}

/** Where a link within the workbook leads. */
function shiftedLocation(cursor: XmlCursor, own: string, removal: Removal, patches: Patch[]): void {
  const value = cursor.attribute('location');
  const span = cursor.attributeSpan('location');
  if (value === undefined || span === null) return;
  const now = shiftedFormula(value, own, removal);
  if (now === value) return;
  const escaped = encoded(sheetText(now)).replaceAll('"', '&quot;');
  patches.push({ ...span, markup: `location="${escaped}"` });
}

function encoded(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function patched(text: string, patches: readonly Patch[]): string {
  let result = '';
  let at = 0;
  for (const { from, to, markup } of patches.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from < at) continue;
    result += text.slice(at, from) + markup;
    at = to;
  }
  return result + text.slice(at);
}

/** `mergeCells` says how many there are. */
function recounted(text: string): string {
  const count = text.match(/<(?:[\w.-]+:)?mergeCell\s/g)?.length ?? 0;
  return text.replace(/(<(?:[\w.-]+:)?mergeCells\s[^>]*?count=")\d+"/, `$1${count}"`);
}
