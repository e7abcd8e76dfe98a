/** Columns of spelled dates and numbers against a slow reading of the rules, word for word (DS-212, DS-213). */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { cases } from '../support/long.ts';
import { classify, emptyCounts } from '../../src/tables/infer/infer.ts';
import {
  countCell,
  emptyForms,
  FormCollector,
  readingsOf,
  type TextContext,
} from '../../src/tables/infer/reading.ts';
import type { Reading } from '../../src/tables/types.ts';
import { dateSortKey, writtenDate } from '../../src/tables/values/column-dates.ts';
import { dateForm, scanned } from '../../src/tables/values/date-scan.ts';
import {
  integerForm,
  numberForm,
  spelledNumber,
  spellNumber,
} from '../../src/tables/values/number-spelling.ts';

function readingOf(cells: readonly string[], context: TextContext): Reading {
  const [counts, forms] = [emptyCounts(), emptyForms()];
  for (const cell of cells) countCell(counts, forms, cell, 1, { context, blank: 'empty' });
  return readingsOf([{ counts, forms }], context)[0]!;
}

const CSV: TextContext = { spellsNumbers: true, delimiter: ',' };
const GROUPS = ['', ',', '.', "'", '\u2019', ' ', '\u00a0', '\u202f'];
const PAIRS = ['.', ','].flatMap((d) => GROUPS.filter((g) => g !== d).map((g) => ({ d, g })));
type Pair = (typeof PAIRS)[number];

const escaped = (mark: string) => mark.replace('.', '\\.');

/** The number a text is by a pair of marks; null when it does not fit. */
function byPair(text: string, { d, g }: Pair): number | null {
  const inner = text.replaceAll(/^ +| +$/g, '');
  const plain = new RegExp(`^-?(?:0|[1-9][0-9]*)(?:${escaped(d)}[0-9]+)?(?:[eE][+-]?[0-9]+)?$`);
  const grouped = new RegExp(
    `^-?[1-9][0-9]{0,2}(?:${escaped(g)}[0-9]{3})+(?:${escaped(d)}[0-9]+)?$`,
  );
  const isGrouped = g !== '' && grouped.test(inner);
  if (!isGrouped && !plain.test(inner)) return null;
  const value = Number((isGrouped ? inner.replaceAll(g, '') : inner).replace(d, '.'));
  if (
    /^-?[0-9]+$/.test(isGrouped ? inner.replaceAll(g, '') : inner) &&
    !Number.isSafeInteger(value)
  )
    return null;
  return Number.isFinite(value) ? value + 0 : null;
}

/** The rules of DS-213 in their order; null: string. */
function numbersByRules(
  cells: readonly string[],
  delimiter: string,
): { type: string; values: (number | null)[] } | null {
  const full = cells.filter((cell) => cell.trim() !== '');
  const fitting = PAIRS.filter((pair) => full.every((cell) => byPair(cell, pair) !== null));
  const isGroupedBy = (cell: string, { g }: Pair) =>
    g !== '' && cell.includes(g) && new RegExp(`[0-9]${escaped(g)}[0-9]`).test(cell);
  const regular = fitting.filter((pair) => {
    const long = full.filter((cell) => {
      const whole = cell.trim().split(pair.d)[0]!;
      return whole.replaceAll(/[^0-9]/g, '').length >= 4 && !/[eE]/.test(whole);
    });
    const grouped = long.filter((cell) => isGroupedBy(cell, pair));
    return grouped.length === 0 || grouped.length === long.length;
  });
  const valuesOf = (pair: Pair) =>
    cells.map((cell) => (cell.trim() === '' ? null : byPair(cell, pair)));
  for (const pair of regular) {
    const values = valuesOf(pair);
    if (!fitting.every((other) => Bun.deepEquals(valuesOf(other), values))) continue;
    const hasDecimal = (cell: string) => cell.includes(pair.d);
    const grouped = full.filter((cell) => isGroupedBy(cell, pair));
    const isProven =
      grouped.some(hasDecimal) ||
      (["'", '\u2019', '\u00a0', '\u202f'].includes(pair.g) && grouped.length > 0) ||
      (delimiter === ';' && pair.d === ',' && full.some(hasDecimal)) ||
      ([',', '.'].includes(pair.g) &&
        full.some((cell) => cell.split(pair.g).length === 3) &&
        full.some((cell) =>
          cell
            .trim()
            .split(pair.g)
            .slice(1)
            .some((part) => part.startsWith('0')),
        ));
    if (!isProven) continue;
    const isNumber = full.some((cell) => hasDecimal(cell) || /[eE]/.test(cell));
    return { type: isNumber ? 'number' : 'integer', values };
  }
  return null;
}

const whole = fc.oneof(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99_999_999 }));
/** Numbers in one pair of marks, mostly. */
const numberColumn = fc
  .record({ pair: fc.constantFrom(...PAIRS), places: fc.constantFrom(0, 1, 2, 3) })
  .chain(({ pair, places }) =>
    fc.array(
      fc
        .record({
          value: whole,
          fraction: fc.integer({ min: 0, max: 10 ** places - 1 }),
          has: fc.boolean(),
          isGrouped: fc.integer({ min: 0, max: 9 }),
          odd: fc.constantFrom('', '', '', '', '', ' ', '-', 'e', 'x', '0'),
        })
        .map(({ value, fraction, has, isGrouped, odd }) => {
          const digits = String(value);
          const body = isGrouped > 0 ? digits.replaceAll(/\B(?=(?:\d{3})+$)/g, pair.g) : digits;
          const end = has && places > 0 ? pair.d + String(fraction).padStart(places, '0') : '';
          if (odd === 'x') return isGrouped > 8 ? 'x' : body + end;
          if (odd === 'e') return isGrouped > 6 ? `${body}${end}e3` : body + end;
          return (odd === '0' && isGrouped < 8 ? '' : odd) + body + end;
        }),
      { minLength: 1, maxLength: 6 },
    ),
  );

test('a column is numbers exactly where the rules say so, with their values (DS-213)', () => {
  let found = 0;
  const property = fc.property(
    numberColumn,
    fc.constantFrom(',', ';', '\t'),
    (cells, delimiter) => {
      const isString = cells.some((cell) => classify(cell) === 'string');
      const reading = readingOf(cells, { ...CSV, delimiter });
      const expected = isString ? numbersByRules(cells, delimiter) : null;
      expect(reading.numbers ? reading.type : null).toBe((expected?.type ?? null) as never);
      if (!reading.numbers || !expected) return;
      found++;
      const { marks } = reading.numbers;
      const values = cells.map((cell) => (cell.trim() === '' ? null : spelledNumber(cell, marks)));
      expect(values).toEqual(expected.values);
    },
  );
  fc.assert(property, { numRuns: cases(20_000) });
  expect(found).toBeGreaterThan(cases(20_000) / 20);
});

test('a number written into a column reads back, and the column stays what it is', () => {
  const value = fc.oneof(
    fc.integer({ min: -99_999_999, max: 99_999_999 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const property = fc.property(numberColumn, value, (cells, number) => {
    const context = { ...CSV, delimiter: ';' };
    const reading = readingOf(cells, context);
    if (!reading.numbers || (reading.type === 'integer' && !Number.isSafeInteger(number))) return;
    const text = spellNumber(number, reading.numbers);
    expect(spelledNumber(text, reading.numbers.marks)).toBe(number + 0);
    const after = readingOf([...cells, text], context);
    expect([after.type, after.numbers?.marks.decimal]).toEqual([
      reading.type,
      reading.numbers.marks.decimal,
    ]);
  });
  fc.assert(property, { numRuns: cases(10_000) });
});

const NAMES =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const two = (value: number) => String(value).padStart(2, '0');

/** One way to spell dates: all parts of a column are spelled by it. */
interface Way {
  /** Before every other cell. */
  readonly outer: string;
  readonly date: (y: string, m: number, d: number) => string;
  readonly time: ((h: number, m: number, s: number, f: string) => string) | null;
  /** Minutes ahead of UTC. */
  readonly zone: { readonly text: string; readonly offset: number } | null;
}

const pad = (isPadded: boolean, value: number) => (isPadded ? two(value) : String(value));
const way: fc.Arbitrary<Way> = fc
  .record({
    shape: fc.integer({ min: 0, max: 9 }),
    isPadded: fc.boolean(),
    clock: fc.integer({ min: 0, max: 6 }),
    outer: fc.constantFrom('', '', '', ' '),
    zone: fc.constantFrom(
      null,
      null,
      null,
      { text: 'Z', offset: 0 },
      { text: ' +01:30', offset: 90 },
      { text: '-0500', offset: -300 },
      { text: 'UTC', offset: 0 },
    ),
  })
  .map(({ shape, isPadded, clock, zone, outer }) => {
    const p = (value: number) => pad(isPadded, value);
    const dates: Way['date'][] = [
      (y, m, d) => `${y}-${p(m)}-${p(d)}`,
      (y, m, d) => `${y}/${p(m)}/${p(d)}`,
      (y, m, d) => `${y}.${p(m)}.${p(d)}`,
      (y, m, d) => `${p(d)}.${p(m)}.${y}`,
      (y, m, d) => `${p(d)}/${p(m)}/${y}`,
      (y, m, d) => `${p(d)}-${p(m)}-${y}`,
      (y, m, d) => `${p(m)}/${p(d)}/${y}`,
      (y, m, d) => `${p(d)}-${NAMES[m - 1]!.slice(0, 3)}-${y}`,
      (y, m, d) => `${p(d)} ${NAMES[m - 1]!.toLowerCase()} ${y}`,
      (y, m, d) => `${NAMES[m - 1]!.slice(0, 3).toUpperCase()} ${p(d)}, ${y}`,
    ];
    const times: (NonNullable<Way['time']> | null)[] = [
      null,
      null,
      (h, m) => ` ${two(h)}:${two(m)}`,
      (h, m, s) => `T${two(h)}:${two(m)}:${two(s)}`,
      (h, m, s, f) => ` ${p(h)}:${two(m)}:${two(s)}.${f}`,
      (h, m) => ` ${p(h % 12 || 12)}:${two(m)} ${h < 12 ? 'AM' : 'PM'}`,
      (h, m, s, f) => `t${p(h % 12 || 12)}:${two(m)}:${two(s)},${f}${h < 12 ? 'am' : 'pm'}`,
    ];
    const time = times[clock] ?? null;
    return { date: dates[shape]!, time, zone: time && zone, outer };
  });

interface Moment {
  readonly at: Date;
  readonly fraction: string;
}

const moment: fc.Arbitrary<Moment> = fc.record({
  at: fc.date({
    min: new Date('0001-01-02T00:00:00Z'),
    max: new Date('9999-12-30T00:00:00Z'),
    noInvalidDate: true,
  }),
  fraction: fc.stringMatching(/^[0-9]{1,9}$/),
});

function spelledBy({ date, time, zone, outer }: Way, { at, fraction }: Moment): string {
  const year = String(at.getUTCFullYear()).padStart(4, '0');
  const day = date(year, at.getUTCMonth() + 1, at.getUTCDate());
  const clock = time?.(at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), fraction) ?? '';
  return (at.getUTCDate() % 2 ? outer : '') + day + clock + (zone?.text ?? '');
}

/** Nanoseconds since 1970 of what the text shows. */
function instantOf({ time, zone }: Way, { at, fraction }: Moment): bigint {
  const text = time?.(at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), fraction) ?? '';
  const seconds = time === null ? 86_400_000 : /:\d\d:/.test(text) ? 1_000 : 60_000;
  const ms = Math.floor(at.getTime() / seconds) * seconds - (zone?.offset ?? 0) * 60_000;
  return BigInt(ms) * 1_000_000n + (/[.,]/.test(text) ? BigInt(fraction.padEnd(9, '0')) : 0n);
}

test('dates of a column compare as their instants, however they are spelled (DS-58, DS-212)', () => {
  const property = fc.property(
    way,
    fc.array(moment, { minLength: 2, maxLength: 6 }),
    (how, moments) => {
      const cells = moments.map((one) => spelledBy(how, one));
      const reading = readingOf(cells, CSV);
      const isOpen = /^ *\d+[-/]\d+[-/]\d{4}/.test(cells[0]!);
      const isAmbiguous = isOpen && moments.every(({ at }) => at.getUTCDate() <= 12);
      if (isAmbiguous) return expect(reading.dates).toBeUndefined();
      expect(reading.format).toBe(how.time ? 'date-time' : 'date');
      const { dates } = reading;
      if (!dates!.isKeyed) return expectOrder(cells, cells, how, moments);
      expectOrder(
        cells.map((cell) => dateSortKey(cell, dates!)!),
        cells,
        how,
        moments,
      );
    },
  );
  fc.assert(property, { numRuns: cases(10_000) });
});

function expectOrder(
  keys: readonly string[],
  cells: readonly string[],
  how: Way,
  moments: readonly Moment[],
): void {
  for (let a = 0; a < keys.length; a++) {
    for (let b = 0; b < a; b++) {
      const difference = instantOf(how, moments[a]!) - instantOf(how, moments[b]!);
      const order = keys[a] === keys[b] ? 0 : keys[a]! < keys[b]! ? -1 : 1;
      const expected = difference === 0n ? 0 : difference < 0n ? -1 : 1;
      expect([cells[a], cells[b], order]).toEqual([cells[a], cells[b], expected]);
    }
  }
}

test('ISO text written into a column of dates is its moment in the spelling of the column', () => {
  const property = fc.property(
    way,
    fc.array(moment, { minLength: 1, maxLength: 5 }),
    moment,
    (how, moments, sent) => {
      const cells = moments.map((one) => spelledBy(how, one));
      const reading = readingOf(cells, CSV);
      if (!reading.dates || !reading.format) return;
      const iso = sent.at.toISOString();
      const text = reading.format === 'date' ? iso.slice(0, 10) : `${iso.slice(0, 19)}Z`;
      const written = writtenDate(text, reading.format, reading.dates);
      expect(written).not.toBeNull();
      const keyed = { ...reading.dates, isKeyed: true };
      const plain = { style: null, order: null, isKeyed: true };
      expect(dateSortKey(written, keyed)).toBe(dateSortKey(text, plain));
      const after = readingOf([...cells, written!], CSV);
      expect([after.format, after.dates?.style?.pattern, after.dates?.order]).toEqual([
        reading.format,
        reading.dates.style?.pattern,
        reading.dates.order,
      ]);
    },
  );
  fc.assert(property, { numRuns: cases(10_000) });
});

test('a column spelled in a thousand ways is plain text, and its counts stay small', () => {
  const ways: readonly (readonly string[])[] = [
    ['1-', '01-', '11-'],
    ['jan-', 'Feb-', 'MAR-', 'april-', 'June-'],
    ['2024T', '2024t', '2024 '],
    ['1:05:06', '01:05:06', '11:05:06'],
    ['.1', ',12', '.123', ',1234', '.123456'],
    ['AM', ' AM', 'pm', ' pm'],
    ['', 'Z', 'UTC', ' +01:00', '+0100', '-01'],
  ];
  let cells = [''];
  for (const parts of ways) cells = cells.flatMap((cell) => parts.map((part) => cell + part));
  const forms = new FormCollector(CSV, Number.POSITIVE_INFINITY);
  for (const cell of cells) forms.addText(cell, false);
  expect([forms.counts.forms, forms.counts.odd > 0]).toEqual([null, true]);
  const counts = { ...emptyCounts(), string: cells.length };
  const declared = { declaredType: 'string', declaredFormat: 'date-time' };
  const [plain, dates] = readingsOf(
    [
      { counts, forms: forms.counts },
      { counts, forms: forms.counts, ...declared },
    ],
    CSV,
  );
  expect([plain?.format, dates?.format]).toEqual([undefined, 'date-time']);
});

test('counts taken back are as if the cell had never been there', () => {
  const cell = fc.oneof(
    fc.constantFrom('1', '1.234', '7,5', '31.12.2023', '2024-01-01', 'x', '', 'true', "1'000"),
    fc.string(),
  );
  const property = fc.property(fc.array(cell), fc.array(cell), (kept, gone) => {
    const head = { context: CSV, blank: 'empty' } as const;
    const [counts, forms] = [emptyCounts(), emptyForms()];
    for (const one of [...gone, ...kept]) countCell(counts, forms, one, 1, head);
    for (const one of gone) countCell(counts, forms, one, -1, head);
    const [fresh, freshForms] = [emptyCounts(), emptyForms()];
    for (const one of kept) countCell(fresh, freshForms, one, 1, head);
    expect([counts, forms]).toEqual([fresh, freshForms]);
  });
  fc.assert(property, { numRuns: cases(2_000) });
});

test('the quick look at the most frequent dates sees what the slow one does', () => {
  const outer = dateForm(' 2024-10-10') - dateForm('2024-10-10');
  const slow = (text: string): unknown[] => {
    const form = dateForm(` ${text}`);
    return form < 0 ? [-1] : [form - outer, Object.values(scanned)];
  };
  const ways = [
    ['2024', '0000', '2023'],
    ['-02-', '-2-', '/02/', '-12-', '-13-'],
    ['29', '05', '5', '31', '00'],
    ['', ' 09:30:00', 'T23:59:59', 't10:00:00', ' 24:00:00', ' 9:30:00', 'T10:60:00', 'T10:00.00'],
  ];
  let texts = [''];
  for (const parts of ways) texts = texts.flatMap((text) => parts.map((part) => text + part));
  for (const text of texts) {
    const expected = slow(text);
    dateForm('1-Jan-2001 3:04:05.6 PM');
    const form = dateForm(text);
    const found: unknown[] = form < 0 ? [form] : [form, Object.values(scanned)];
    expect({ text, found }).toEqual({ text, found: expected });
  }
});

test('an integer has the form of its digits', () => {
  for (const value of [0, -0, 7, -7, 999, 1000, -999, -1000, 123_456, Number.MAX_SAFE_INTEGER])
    expect(integerForm(value)).toBe(numberForm(String(value)));
});
