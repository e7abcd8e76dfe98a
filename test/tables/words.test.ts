import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  foldCase,
  foldedWords,
  foldText,
  hasWords,
  queryWords,
} from '../../src/tables/filter/words.ts';
import { read, typedCopy } from './typed-copy.ts';

describe('words (DS-147)', () => {
  test('are runs of letters, numbers and _, folded', () => {
    expect(foldedWords('Hello, wörld_1! x-y 3.5 №7')).toEqual([
      'hello',
      'world_1',
      'x',
      'y',
      '3',
      '5',
      '7',
    ]);
    expect(foldedWords('ÉCOLE Straße Ελλάδα ΣΟΦΟΣ Йод ёж İzmir ﬁn')).toEqual([
      'ecole',
      'strasse',
      'ελλαδα',
      'σοφοσ',
      'иод',
      'еж',
      'izmir',
      'fin',
    ]);
    expect(foldedWords('が 한국어 日本')).toEqual(['が', '한국어', '日本']);
    expect(foldedWords('"AND" NEAR( * ^ \0')).toEqual(['and', 'near']);
    expect(foldedWords('')).toEqual([]);
  });

  test('the first sixteen of a query count', () => {
    const words = Array.from({ length: 20 }, (_, index) => `w${index}`);
    expect(queryWords(words.join(' '))).toEqual(words.slice(0, 16));
  });

  test('all must occur, the last one as a prefix', () => {
    const has = (text: string, query: string) => hasWords(text, queryWords(query));
    expect(has('the quick brown fox', 'quick fo')).toBe(true);
    expect(has('the quick brown fox', 'qui fox')).toBe(false);
    expect(has('the quick brown fox', 'fox the')).toBe(true);
    expect(has('xfox fox', 'fox')).toBe(true);
    expect(has('xfox', 'fox')).toBe(false);
    expect(has('fox_y', 'fox y')).toBe(false);
    expect(has('a😀b', 'b')).toBe(true);
    expect(has('\u{20000}b', 'b')).toBe(false);
    expect(has('cafe\u0301', 'café')).toBe(true);
  });

  test('folding case distributes over concatenation', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(foldCase(a + b)).toBe(foldCase(a) + foldCase(b));
      }),
    );
    expect(foldCase('ΟΔΟΣ') + foldCase('ΑΣ')).toBe(foldCase('ΟΔΟΣΑΣ'));
  });

  test('folded text stays as it is when it is folded again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(foldText(foldText(text))).toBe(foldText(text));
      }),
    );
  });
});

test('an FTS5 index over the folded words gives the same answers', () => {
  const db = new Database(':memory:');
  db.run(
    `CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = "unicode61 remove_diacritics 0 tokenchars '_'")`,
  );
  const part = fc.oneof(
    fc.constantFrom(
      'Ab',
      'ab',
      'É',
      'e\u0301',
      'ß',
      'SS',
      '_',
      '1',
      'Σ',
      'ς',
      'й',
      ' ',
      ' ',
      ',',
      '-',
      '日',
      '😀',
    ),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (body, query) => {
      const words = queryWords(query);
      if (words.length === 0) return;
      db.run('DELETE FROM texts');
      db.run('INSERT INTO texts VALUES (?)', [foldedWords(body).join(' ')]);
      const match = words.map((word) => `"${word}"`).join(' AND ');
      const found = db.query('SELECT 1 FROM texts WHERE texts MATCH ?').all(`${match}*`).length > 0;
      expect([body, query, found]).toEqual([body, query, hasWords(body, words)]);
    }),
    { numRuns: 1_000 },
  );
});

describe('q of a list (DS-43)', () => {
  const copy = typedCopy({
    columns: [
      { name: 'name', type: 'string' },
      { name: 'price', type: 'number' },
      { name: 'ok', type: 'boolean' },
    ],
    rows: [
      ['Crème brûlée', '12.5', 'true'],
      ['Brownie', '', 'false'],
      ['crema', '12', 'true'],
    ],
  });

  test('the words may stand in different cells, in any column, in their text forms', () => {
    expect(read(copy, { q: 'creme 12' }).ids).toEqual([1]);
    expect(read(copy, { q: '12 cre' }).ids).toEqual([1, 3]);
    expect(read(copy, { q: 'true 5' }).ids).toEqual([1]);
    expect(read(copy, { q: 'fals' }).ids).toEqual([2]);
    expect(read(copy, { q: 'nothing' })).toMatchObject({ ids: [], total: 0 });
  });

  test('a word does not reach over two cells, and the row id is no cell', () => {
    expect(read(copy, { q: 'brownie3' }).ids).toEqual([]);
    expect(read(copy, { q: '3' }).ids).toEqual([]);
  });

  test('without words there is no restriction, and it goes with filter, sort and paging', () => {
    expect(read(copy, { q: ' -- "*" ' }).ids).toEqual([1, 2, 3]);
    const query = { q: 'tr', filter: '{"price":{"$gte":12}}', sort: '-price', limit: 1 };
    const first = read(copy, query);
    expect(first).toMatchObject({ ids: [1], total: 2 });
    expect(read(copy, { ...query, cursor: first.next! })).toMatchObject({ ids: [3], next: null });
    expect(() => read(copy, { ...query, q: 'true', cursor: first.next! })).toThrow(
      'Invalid cursor',
    );
  });

  test('tables of more columns than an SQL function takes arguments are searched whole', () => {
    const columns = Array.from({ length: 1_998 }, (_, index) => ({
      name: `n${index}`,
      type: 'string' as const,
    }));
    const wide = typedCopy({ columns, rows: [columns.map((_, index) => `v${index}`)] });
    expect(read(wide, { q: 'v0 v1000 v1997' }).ids).toEqual([1]);
    expect(read(wide, { q: 'v0 v1998' }).ids).toEqual([]);
  });
});
