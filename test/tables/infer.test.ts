/** Classes of cells and stored values: DS-59 to DS-61, DS-64, DS-78. */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { cases } from '../support/long.ts';
import { declaredClass } from '../../src/tables/infer/declared-type.ts';
import {
  type CellClass,
  classify,
  classOf,
  emptyCounts,
  integerOf,
  numberOf,
  storedValue,
  typeOfCounts,
} from '../../src/tables/infer/infer.ts';
import type { Cell } from '../../src/tables/types.ts';
import type { ColumnType } from '../../src/tables/infer/file-type.ts';

/** The table of DS-59, word for word. */
function classByRules(text: string): CellClass {
  if (text.trim() === '') return 'blank';
  const inner = text.replace(/^ +/, '').replace(/ +$/, '');
  if (/^-?(?:0|[1-9][0-9]*)$/.test(inner)) {
    return Number.isSafeInteger(Number(inner)) ? 'integer' : 'string';
  }
  if (/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(inner)) {
    return Number.isFinite(Number(inner)) ? 'number' : 'string';
  }
  return /^(?:true|false)$/i.test(inner) ? 'boolean' : 'string';
}

const numberLike = fc
  .array(
    fc.constantFrom('0', '1', '9', '12', '-', '+', '.', 'e', 'E', ' ', '9007199254740991', '\t'),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));
const wordLike = fc
  .array(fc.constantFrom('t', 'T', 'rue', 'RUE', 'f', 'alse', ' ', 'ſ', 'x', '\u00a0', '\u3000'), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));

test('every text has the class its regular expressions give it (DS-59)', () => {
  const text = fc.oneof(
    numberLike,
    wordLike,
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.double().map(String),
    fc.maxSafeInteger().map(String),
    fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }).map(String),
  );
  const property = fc.property(text, (one) => {
    expect(classify(one)).toBe(classByRules(one));
  });
  fc.assert(property, { numRuns: cases(20_000) });
});

test('numbers read as JavaScript reads them, without negative zero', () => {
  const decimal = fc.stringMatching(/^ {0,1}-?(0|[1-9][0-9]{0,16})\.[0-9]{1,17} {0,1}$/);
  const property = fc.property(
    fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
    (text) => {
      const value = Number.isNaN(integerOf(text)) ? numberOf(text) : integerOf(text);
      if (!['integer', 'number'].includes(classify(text))) return;
      expect(Object.is(value, Number(text) + 0)).toBe(true);
    },
  );
  fc.assert(property, { numRuns: cases(20_000) });
});

test.each<[string, CellClass]>([
  ['0', 'integer'],
  ['-0', 'integer'],
  [' 42 ', 'integer'],
  ['9007199254740991', 'integer'],
  ['9007199254740992', 'string'],
  ['-9007199254740992', 'string'],
  ['12345678901234567890', 'string'],
  ['007', 'string'],
  ['+5', 'string'],
  ['1_000', 'string'],
  ['0x1F', 'string'],
  ['1,5', 'string'],
  ['1.5', 'number'],
  ['2.0', 'number'],
  ['1e5', 'number'],
  ['-1E-5', 'number'],
  ['1e400', 'string'],
  ['.5', 'string'],
  ['5.', 'string'],
  ['nan', 'string'],
  ['NaN', 'string'],
  ['inf', 'string'],
  ['TRUE', 'boolean'],
  [' fAlSe ', 'boolean'],
  ['yes', 'string'],
  ['', 'blank'],
  [' \t\u00a0', 'blank'],
  ['\t5', 'string'],
])('%j is %s (DS-59, DS-60)', (text, found) => {
  expect(classify(text)).toBe(found);
});

test.each<[Cell, CellClass]>([
  [5, 'integer'],
  [5.5, 'number'],
  [1e300, 'number'],
  [true, 'boolean'],
  [7n, 'integer'],
  [null, 'blank'],
  ['x', 'string'],
])('the native cell %p is %s', (cell, found) => {
  expect(classOf(cell)).toBe(found);
});

test('the narrowest type that fits all classes is taken (DS-59, DS-60)', () => {
  const typeOf = (counts: Partial<ReturnType<typeof emptyCounts>>) =>
    typeOfCounts({ ...emptyCounts(), ...counts });
  expect(typeOf({})).toBe('string');
  expect(typeOf({ integer: 3 })).toBe('integer');
  expect(typeOf({ integer: 3, number: 1 })).toBe('number');
  expect(typeOf({ boolean: 2 })).toBe('boolean');
  expect(typeOf({ boolean: 2, integer: 1 })).toBe('string');
  expect(typeOf({ integer: 9, string: 1 })).toBe('string');
});

const inferred = (type: ColumnType) => ({ type, declared: false });

test('inferred columns store numbers, 0 and 1, text, and blanks by type (DS-64)', () => {
  expect(storedValue(' 42 ', inferred('integer'))).toBe(42);
  expect(Object.is(storedValue('-0', inferred('integer')), 0)).toBe(true);
  expect(storedValue('1.50', inferred('number'))).toBe(1.5);
  expect(storedValue('3', inferred('number'))).toBe(3);
  expect(storedValue('True', inferred('boolean'))).toBe(1);
  expect(storedValue(' x ', inferred('string'))).toBe(' x ');
  for (const type of ['integer', 'number', 'boolean'] as const) {
    for (const blank of ['', ' \t', null]) expect(storedValue(blank, inferred(type))).toBeNull();
  }
  for (const blank of ['', ' \t', null]) expect(storedValue(blank, inferred('string'))).toBe('');
});

test('a cell that does not fit stays text', () => {
  expect(storedValue('x', inferred('integer'))).toBe('x');
  expect(storedValue('1.5', inferred('integer'))).toBe('1.5');
  expect(storedValue('yes', inferred('boolean'))).toBe('yes');
  expect(storedValue(1.5, inferred('integer'))).toBe('1.5');
  expect(storedValue(2, inferred('boolean'))).toBe('2');
});

test('native cells in string columns read as a spreadsheet shows them (DS-65)', () => {
  expect(storedValue(true, inferred('string'))).toBe('TRUE');
  expect(storedValue(false, inferred('string'))).toBe('FALSE');
  expect(storedValue(2.5, inferred('string'))).toBe('2.5');
  expect(storedValue(-0, inferred('string'))).toBe('0');
  expect(storedValue(9007199254740993n, inferred('integer'))).toBe(9007199254740993n);
});

test('where blanks are nulls, null is null and text is text in every column (DS-64)', () => {
  expect(storedValue(null, inferred('string'), 'null')).toBeNull();
  expect(storedValue('', inferred('string'), 'null')).toBe('');
  expect(storedValue('  ', inferred('string'), 'null')).toBe('  ');
});

test('declared columns also accept what DS-61 names, and keep other text', () => {
  const stored = (text: Cell, declaredType: string) => {
    const declared = declaredClass(declaredType);
    const type = declared === 'other' ? 'string' : declared;
    return storedValue(text, { type, declared: true, declaredType });
  };
  expect(['+5', '007', ' -012 ', '0', '-0'].map((text) => stored(text, 'int64'))).toEqual([
    5, 7, -12, 0, 0,
  ]);
  const texts = ['1.0', '1e3', '9007199254740992', '12a', '-', 'true'];
  expect(texts.map((text) => stored(text, 'integer'))).toEqual(texts);
  expect(['1', 'YES', 'true', '0', 'No', ' FALSE '].map((text) => stored(text, 'bool'))).toEqual([
    1, 1, 1, 0, 0, 0,
  ]);
  expect(stored('2', 'bool')).toBe('2');
  expect(['1.5', '12345678901234567890', '7'].map((text) => stored(text, 'decimal(10,2)'))).toEqual(
    [1.5, 12345678901234567000, 7],
  );
  expect(['nan', '1e400', '+5', '007'].map((text) => stored(text, 'double'))).toEqual([
    'nan',
    '1e400',
    '+5',
    '007',
  ]);
  expect(stored('007', 'str')).toBe('007');
  expect(stored('007', 'postal code')).toBe('007');
  expect(stored(7, 'postal code')).toBe('7');
  expect(stored('', 'int')).toBeNull();
  expect(stored(' ', 'postal code')).toBe('');
});

test.each([
  ['integer', ['integer', 'int', 'int8', 'Int64', 'uint', 'UINT32', 'int(11)']],
  ['number', ['number', 'float', 'float32', 'DOUBLE', 'decimal', 'decimal(18,4)', 'decimal128']],
  ['boolean', ['boolean', 'bool']],
  ['string', ['string', 'str', 'object', 'category']],
  ['other', ['date', 'interval', 'numbers', 'stringy', '', 'point', 'floating', 'toString']],
])('%s is declared by %p', (declared, names) => {
  for (const name of names) expect(declaredClass(name)).toBe(declared as never);
});
