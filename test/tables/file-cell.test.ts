/** Values for columns typed by their file: DS-77, DS-78, and the texts of DS-67 there and back. */
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { JsonNumber } from '../../src/base/json/json.ts';
import {
  dateText,
  daysOf,
  momentOf,
  momentText,
  timeOf,
  timeText,
} from '../../src/tables/values/calendar.ts';
import { fileCell, Misfit } from '../../src/tables/edit/file-cell.ts';
import type { FileType } from '../../src/tables/infer/file-type.ts';
import { shortestFloat } from '../../src/tables/values/shortest-float.ts';
import { workSince } from '../support/patience.ts';

const cellFor = (value: unknown, type: FileType, isRequired = false): unknown =>
  fileCell(value, { type, isRequired });
const int8: FileType = { kind: 'integer', bits: 8, isSigned: true };
const int64: FileType = { kind: 'integer', bits: 64, isSigned: true };
const uint64: FileType = { kind: 'integer', bits: 64, isSigned: false };
const float: FileType = { kind: 'float', bits: 32 };
const double: FileType = { kind: 'float', bits: 64 };
const money: FileType = { kind: 'decimal', precision: 9, scale: 2 };
const exact: FileType = { kind: 'decimal', precision: 38, scale: 2 };
const moment: FileType = { kind: 'timestamp', unit: 'us', isUtc: false };
const utc: FileType = { kind: 'timestamp', unit: 'ms', isUtc: true };

describe('DS-78: what is accepted, and how it is stored', () => {
  const accepted: [unknown, FileType, unknown][] = [
    [127, int8, 127],
    [' -128 ', int8, -128],
    [9223372036854775807n, int64, 9223372036854775807n],
    ['9007199254740993', int64, 9007199254740993n],
    [18446744073709551615n, uint64, '18446744073709551615'],
    [5, uint64, '5'],
    [0.1, float, 0.1],
    [1 / 3, float, 0.33333334],
    ['1e3', double, 1000],
    [new JsonNumber('1.0'), double, 1],
    [12.34, money, 12.34],
    [new JsonNumber('5.00'), money, 5],
    ['12345678901234567890.1', exact, '12345678901234567890.1'],
    [true, { kind: 'boolean' }, true],
    ['No', { kind: 'boolean' }, false],
    [1, { kind: 'boolean' }, true],
    ['2024-02-29', { kind: 'date' }, '2024-02-29'],
    ['12:34:56.5', { kind: 'time', unit: 'ms' }, '12:34:56.500'],
    ['2024-01-01', moment, '2024-01-01T00:00:00'],
    ['2024-01-01 10:00:00.25', moment, '2024-01-01T10:00:00.250'],
    ['2024-01-01T00:30:00+01:00', utc, '2023-12-31T23:30:00Z'],
    ['2024-01-01T00:30:00Z', moment, '2024-01-01T00:30:00'],
    [
      '123E4567-E89B-12D3-A456-426614174000',
      { kind: 'uuid' },
      '123e4567-e89b-12d3-a456-426614174000',
    ],
    ['', { kind: 'text' }, ''],
    ['', int8, null],
    [null, { kind: 'text' }, null],
    [null, moment, null],
  ];
  test('values come back as the file will show them', () => {
    for (const [value, type, cell] of accepted) {
      expect([type.kind, value, cellFor(value, type)]).toEqual([type.kind, value, cell]);
    }
  });
});

describe('DS-77: what is refused, and what was expected', () => {
  const refused: [unknown, FileType, string][] = [
    [128, int8, 'integer'],
    [new JsonNumber('1.0'), int8, 'integer'],
    [true, int8, 'integer'],
    [-1, uint64, 'integer'],
    [9223372036854775808n, int64, 'integer'],
    ['NaN', double, 'finite number'],
    ['-inf', float, 'finite number'],
    [new JsonNumber('1e400'), double, 'finite number'],
    [1e39, float, 'finite number'],
    [true, double, 'number'],
    ['abc', double, 'number'],
    [0.001, money, 'number'],
    [1e7, money, 'number'],
    ['on', { kind: 'boolean' }, 'boolean'],
    [2, { kind: 'boolean' }, 'boolean'],
    ['2024-02-30', { kind: 'date' }, 'date'],
    ['25:00:00', { kind: 'time', unit: 'ms' }, 'time'],
    ['10:00:00.0001', { kind: 'time', unit: 'ms' }, 'time'],
    ['2024-01-01T00:00:00.0001Z', utc, 'timestamp'],
    ['soon', moment, 'timestamp'],
    [5, { kind: 'text' }, 'string'],
    [new JsonNumber('1.0'), { kind: 'nested' }, 'string'],
    ['no uuid', { kind: 'uuid' }, 'string'],
  ];
  test('names the type in the words of the contract', () => {
    for (const [value, type, expected] of refused) {
      expect([type.kind, value, cellFor(value, type)]).toEqual([
        type.kind,
        value,
        new Misfit(expected),
      ]);
    }
  });

  test('null, and "" where it means null, in a required column', () => {
    expect(cellFor(null, int64, true)).toEqual(new Misfit('integer'));
    expect(cellFor('', moment, true)).toEqual(new Misfit('timestamp'));
    expect(cellFor('', { kind: 'text' }, true)).toBe('');
    expect(cellFor(null, { kind: 'text' }, true)).toEqual(new Misfit('string'));
  });
});

test('DS-77: what no column can hold is refused at once, however long it is', () => {
  const digits = '1'.repeat(3_000_000);
  const zeros = '0'.repeat(300_000);
  const start = process.cpuUsage();
  for (const value of [digits, new JsonNumber(digits), `1.${zeros}1`]) {
    for (const type of [int64, exact]) expect(cellFor(value, type)).toBeInstanceOf(Misfit);
  }
  expect(timeOf(`12:00:00.${zeros}1`, 'us')).toBeNull();
  expect(timeOf(`12:00:00.5${zeros}`, 'ms')).toBe(43_200_500);
  expect(workSince(start)).toBeLessThan(1_000);
});

describe('dates and times as text', () => {
  test('dates are those of JavaScript, and come back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (days) => {
        const text = dateText(days);
        expect(text).toBe(new Date(days * 86_400_000).toISOString().slice(0, 10));
        expect(daysOf(text)).toBe(days);
      }),
    );
    expect([dateText(-719_529), dateText(-2_000_000), dateText(100_000_000)]).toEqual([
      '-0001-12-31',
      '-3506-03-09',
      '275760-09-13',
    ]);
  });

  test.each(['ms', 'us', 'ns'] as const)('times and moments in %s come back', (unit) => {
    const perDay = { ms: 86_400_000, us: 86_400_000_000, ns: 86_400_000_000_000 }[unit];
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: perDay - 1 }),
        fc.integer({ min: -100_000, max: 100_000 }),
        (time, days) => {
          expect(timeOf(timeText(time, unit), unit)).toBe(time);
          const value = BigInt(days) * BigInt(perDay) + BigInt(time);
          expect(momentOf(momentText(days, time, unit, false), unit)).toBe(value);
          expect(momentOf(momentText(days, time, unit, true), unit)).toBe(value);
        },
      ),
    );
  });
});

describe('DS-60: floats in their shortest form', () => {
  test('are the same float, and no shorter number is', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const shown = shortestFloat(value, 32);
        expect(Math.fround(shown)).toBe(value);
        const digits = String(Math.abs(shown))
          .replace(/e.*$/, '')
          .replace('.', '')
          .replace(/^0+|0+$/g, '').length;
        if (digits > 1) expect(Math.fround(Number(value.toPrecision(digits - 1)))).not.toBe(value);
      }),
    );
    expect([
      shortestFloat(Math.f16round(0.1), 16),
      shortestFloat(Math.fround(16_777_216), 32),
    ]).toEqual([0.1, 16_777_216]);
  });
});
