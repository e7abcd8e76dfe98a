/** Serial numbers and date texts (DS-65, DS-87). */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import {
  builtInKind,
  type DateKind,
  formatKind,
  serialOf,
  serialText,
} from '../../plugins/workbook/serial-date.ts';

const formats: readonly (readonly [code: string, kind: DateKind])[] = [
  ['General', 'none'],
  ['0.00', 'none'],
  ['0.00E+00', 'none'],
  ['#,##0.00 "days"', 'none'],
  ['0\\d', 'none'],
  ['[Red]0;[Yellow]0', 'none'],
  ['_-* #,##0.00 [$EUR]_-;h', 'none'],
  ['# ?/?', 'none'],
  ['@', 'none'],
  ['', 'none'],
  ['yyyy-mm-dd', 'date'],
  ['[$-409]d-mmm-yy;@', 'date'],
  ['mmm', 'date'],
  ['yyyy"年"m"月"d"日" h:mm', 'date'],
  ['[$-411]ggge', 'date'],
  ['h:mm AM/PM', 'time'],
  ['hh:mm:ss.000', 'time'],
  ['mm:ss.0', 'time'],
  ['[h]:mm:ss', 'elapsed'],
  ['[mm]:ss', 'elapsed'],
];

test.each(formats)('the format %j shows numbers as %s', (code, kind) => {
  expect(formatKind(code)).toBe(kind);
});

test('built-in formats are known by their number', () => {
  const kinds = [0, 4, 9, 13, 14, 17, 18, 21, 22, 37, 44, 45, 46, 47, 49, 58, 59].map(builtInKind);
  expect(kinds.join(' ')).toBe(
    'none none none none date date time time date none none time elapsed time none date none',
  );
});

const texts: readonly (readonly [text: string, serial: number | null])[] = [
  ['1900-01-01', 1],
  ['1900-02-28', 59],
  ['1900-02-29', 60],
  ['1900-03-01', 61],
  ['1899-12-31', null],
  ['2024-05-01', 45413],
  [' 2024-05-01 06:00 ', 45413.25],
  ['2024-05-01T06:00:00.000Z', 45413.25],
  ['9999-12-31', 2958465],
  ['2024-02-30', null],
  ['2024-13-01', null],
  ['2024-5-1', null],
  ['24-05-01', null],
  ['2024-05-01Z', null],
  ['2024-05-01T06:00:00+02:00', null],
  ['06:00', 0.25],
  ['24:00', null],
  ['12:60', null],
  ['noon', null],
  ['', null],
];

test.each(texts)('%j in a date cell is the serial number %p', (text, serial) => {
  expect(serialOf(text, 'date', false)).toBe(serial);
});

test('a text is no date in a cell that shows none, and hours past 24 are for elapsed time', () => {
  expect(serialOf('2024-05-01', 'none', false)).toBeNull();
  expect(serialOf('36:00', 'time', false)).toBeNull();
  expect(serialOf('36:00', 'elapsed', false)).toBe(1.5);
});

test('the text of a serial number gives the number back, to the second', () => {
  const property = fc.property(
    fc.integer({ min: 0, max: 2_900_000 * 86_400 }),
    fc.boolean(),
    (seconds, is1904) => {
      const serial = seconds / 86_400;
      const text = serialText(serial, 'date', is1904)!;
      expect(Math.round(serialOf(text, 'date', is1904)! * 86_400)).toBe(seconds);
    },
  );
  fc.assert(property);
});
