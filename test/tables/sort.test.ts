import { describe, expect, test } from 'bun:test';
import { parseColumns, parseSort } from '../../src/tables/read/name-list.ts';
import { read, typedCopy } from './typed-copy.ts';

const COLUMNS = ['_row_id', 'a', 'b', '-a', 'x,y', 'q"t', ' padded', '-', 'é'].map((name) => ({
  name,
}));

function sorted(text: string, order: 'asc' | 'desc' = 'asc'): string[] {
  return parseSort(text, order, COLUMNS).map(
    ({ column, descending }) => `${COLUMNS[column]!.name} ${descending ? 'down' : 'up'}`,
  );
}

describe('the sort parameter (DS-57)', () => {
  test('names columns in order, with - for downwards and the default direction otherwise', () => {
    expect(sorted('')).toEqual([]);
    expect(sorted('a')).toEqual(['a up']);
    expect(sorted('b,-é')).toEqual(['b up', 'é down']);
    expect(sorted('b,-é', 'desc')).toEqual(['b down', 'é down']);
    expect(sorted('_row_id,-b')).toEqual(['_row_id up', 'b down']);
  });

  test('an item equal to a column name is that column even with a -', () => {
    expect(sorted('-a')).toEqual(['-a up']);
    expect(sorted('--a')).toEqual(['-a down']);
    expect(sorted('-')).toEqual(['- up']);
  });

  test('names with commas or quotes are quoted', () => {
    expect(sorted('"x,y",-"q""t"')).toEqual(['x,y up', 'q"t down']);
    expect(sorted('"a",q"t')).toEqual(['a up', 'q"t up']);
    expect(sorted(' a , padded')).toEqual(['a up', ' padded up']);
  });

  test('a column counts where it is named first', () => {
    expect(sorted('a,b,"a",-b')).toEqual(['a up', 'b up']);
  });

  test('unknown columns are refused by name', () => {
    for (const [text, name] of [
      ['nope', 'nope'],
      ['-nope', 'nope'],
      ['"x,z"', 'x,z'],
      ['x,y', 'x'],
      ['a,', ''],
      ['a desc; --', 'a desc; --'],
      ['__proto__', '__proto__'],
      ['rowid', 'rowid'],
      ['"unclosed', '"unclosed'],
    ]) {
      expect(() => sorted(text!)).toThrow(`Invalid sort: unknown column '${name}'`);
    }
  });

  test('more than 64 columns are refused', () => {
    const many = Array.from({ length: 70 }, (_, index) => ({ name: `c${index}` }));
    const names = many.map(({ name }) => name);
    expect(parseSort(names.slice(0, 64).join(), 'asc', many)).toHaveLength(64);
    expect(() => parseSort(names.join(), 'asc', many)).toThrow(
      'Invalid sort: too many columns (maximum 64)',
    );
  });
});

describe('the order of values (DS-58)', () => {
  test('numbers, then text that does not fit, blanks last both ways; ties in file order', () => {
    const copy = typedCopy({
      columns: [{ name: 'n', type: 'integer' }],
      rows: [['10'], ['x'], [''], ['9'], ['10'], ['é'], [''], ['b']],
    });
    expect(read(copy, { sort: 'n' }).ids).toEqual([4, 1, 5, 8, 2, 6, 3, 7]);
    expect(read(copy, { sort: '-n' }).ids).toEqual([6, 2, 8, 1, 5, 4, 3, 7]);
    expect(read(copy, { sort: 'n', order: 'desc' }).ids).toEqual([6, 2, 8, 1, 5, 4, 3, 7]);
    expect(read(copy, { order: 'desc' }).ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(read(copy, { sort: '-_row_id' }).ids).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('false before true; texts by code point with "" first and null last', () => {
    const booleans = typedCopy({
      columns: [{ name: 'b', type: 'boolean' }],
      rows: [['true'], [''], ['false'], ['TRUE']],
    });
    expect(read(booleans, { sort: 'b' }).ids).toEqual([3, 1, 4, 2]);
    expect(read(booleans, { sort: '-b' }).ids).toEqual([1, 4, 3, 2]);
    const texts = typedCopy({
      columns: [{ name: 't', type: 'string' }],
      rows: [['b'], [null], [''], ['Z'], ['😀'], ['\ue000']],
      blank: 'null',
    });
    expect(read(texts, { sort: 't' }).ids).toEqual([3, 4, 1, 6, 5, 2]);
    expect(read(texts, { sort: '-t' }).ids).toEqual([5, 6, 1, 4, 3, 2]);
  });
});

describe('the columns parameter (DS-42)', () => {
  const named = (...values: string[]) =>
    parseColumns(values, COLUMNS)?.map((index) => COLUMNS[index]!.name);

  test('gives just those, in the order given, each once', () => {
    expect(named('b,a')).toEqual(['b', 'a']);
    expect(named('b', '"x,y",b', 'a')).toEqual(['b', 'x,y', 'a']);
    expect(named('-a')).toEqual(['-a']);
    expect(named('a,_row_id')).toEqual(['a', '_row_id']);
  });

  test('empty means all', () => {
    expect(named()).toBeUndefined();
    expect(named('')).toBeUndefined();
    expect(named('', 'a')).toEqual(['a']);
  });

  test('unknown columns are refused by name', () => {
    expect(() => named('a,nope')).toThrow("Invalid columns: unknown column 'nope'");
    expect(() => named('a,')).toThrow("Invalid columns: unknown column ''");
    expect(() => named('"x,z"')).toThrow("Invalid columns: unknown column 'x,z'");
  });
});
