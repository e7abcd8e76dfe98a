/** Numbers of many digits as keys: order, digits and operands (DS-1, DS-53, DS-67). */
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import {
  decimalText,
  unscaledOf,
  unscaledOfKey,
  wideKey,
  wideKeyOf,
  wideOperand,
  wideText,
} from '../../src/tables/values/wide-number.ts';

const wide = { digits: 38, scale: 4 };
const limit = 10n ** 38n - 1n;
const integers = fc.oneof(
  fc.bigInt({ min: -limit, max: limit }),
  fc.bigInt({ min: -20_000n, max: 20_000n }),
);

describe('keys', () => {
  test('their order is the order of the numbers, and nothing is lost', () => {
    fc.assert(
      fc.property(integers, integers, (a, b) => {
        const [left, right] = [wideKey(a, wide)!, wideKey(b, wide)!];
        expect(unscaledOfKey(left, wide)).toBe(a);
        expect(left < right).toBe(a < b);
        expect(wideText(left, wide)).toBe(decimalText(a, 4));
        expect(wideKeyOf(decimalText(a, 4), wide)).toBe(left);
        expect(unscaledOf(decimalText(a, 4), 4)).toBe(a);
      }),
    );
  });

  test('numbers of too many digits have none', () => {
    expect(wideKey(limit + 1n, wide)).toBeNull();
    expect(wideKey(-(10n ** 38n) - 1n, wide)).toBeNull();
  });

  test.each([
    [0n, 2, '0'],
    [150n, 2, '1.5'],
    [-5n, 2, '-0.05'],
    [100n, 2, '1'],
    [-1200n, 2, '-12'],
    [7n, 0, '7'],
  ])('%d with scale %d is %s', (unscaled, scale, text) => {
    expect(decimalText(unscaled, scale)).toBe(text);
  });
});

describe('texts', () => {
  test.each([
    ['1.5', 15_000n],
    ['-.5', -5_000n],
    ['+2.', 20_000n],
    ['1e3', 10_000_000n],
    ['1E-4', 1n],
    ['0e999999999', 0n],
    ['0.00000', 0n],
    ['1e-5', null],
    ['1.23456', null],
    ['', null],
    ['.', null],
    ['abc', null],
    ['0x10', null],
    ['1e999999999', undefined],
  ])('%s', (text, unscaled) => {
    if (unscaled === undefined) expect(wideKeyOf(text, wide)).toBeNull();
    else expect(unscaledOf(text, 4)).toBe(unscaled);
  });
});

describe('operands of filters', () => {
  test('compare with keys as the numbers do', () => {
    const fraction = fc.tuple(integers, fc.integer({ min: 0, max: 99 }));
    fc.assert(
      fc.property(fraction, integers, ([whole, rest], other) => {
        // A number with two digits past the scale.
        const exact = whole * 100n + BigInt(rest);
        const operand = wideOperand(decimalText(exact, 6), wide);
        if (operand === null) throw new Error('no operand');
        const key = wideKey(other, wide)!;
        expect(key < operand).toBe(other * 100n < exact);
        expect(key === operand).toBe(other * 100n === exact);
      }),
    );
  });

  test('beyond all numbers they are less or greater than every key', () => {
    const [least, greatest] = [wideKey(-limit, wide)!, wideKey(limit, wide)!];
    expect(wideOperand('1e300', wide)! > greatest).toBe(true);
    expect(wideOperand('-1e300', wide)! < least).toBe(true);
    expect(wideOperand('-1e300', wide)! > '').toBe(true);
    expect(wideOperand('1e-999999999', wide)! > wideKey(0n, wide)!).toBe(true);
    expect(wideOperand('-1e-999999999', wide)! < wideKey(0n, wide)!).toBe(true);
    expect(wideOperand('many', wide)).toBeNull();
  });
});
