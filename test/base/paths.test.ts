import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  compareBytes,
  decodePath,
  encodePath,
  extensionOf,
  isIgnoredComponent,
  sortedByBytes,
  stemOf,
} from '../../src/base/paths.ts';

describe('request paths (DS-4, DS-5)', () => {
  test.each([
    ['/', []],
    ['', []],
    ['/a', ['a']],
    ['/a/', ['a']],
    ['/a/b c', ['a', 'b c']],
    ['/a%2Fb', ['a', 'b']],
    ['/a%2fb%2f', ['a', 'b']],
    ['/caf%C3%A9', ['café']],
    ['/cafe%CC%81', ['café']],
    ['/%7Bx%7D:*%3F', ['{x}:*?']],
    ['/a%5Cb', ['a\\b']],
    ['/%252e%252e', ['%2e%2e']],
    ['/.hidden', ['.hidden']],
    ['/...', ['...']],
  ])('%j means %j', (raw, segments) => {
    expect(decodePath(raw)).toEqual(segments);
  });

  test.each([
    '//',
    '//a',
    '/a//b',
    '/a//',
    '/.',
    '/..',
    '/a/../b',
    '/%2e%2e/etc',
    '/%2e%2e%2fetc',
    '/a%00',
    '/a\0',
    '/%',
    '/%zz',
    '/%ff',
    '/%c0%ae%c0%ae/',
    '/%ed%a0%80',
    '/\ud800',
    '/%2F%2F',
  ])('%j can match nothing', (raw) => {
    expect(decodePath(raw)).toBeNull();
  });

  test('an encoded rel decodes to itself in NFC, and no path leaves the root', () => {
    const name = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 8 })
      .filter(
        (text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed(),
      );
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        const rel = names.join('/');
        expect(decodePath(`/${encodePath(rel)}`)).toEqual(rel.normalize('NFC').split('/'));
      }),
    );
  });

  test('whatever is sent, no segment climbs, is empty or holds a slash', () => {
    const part = fc.constantFrom('/', '.', '..', '%2e', '%2F', '%', '%00', 'a', '\\', '%c0', 'é');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
        for (const segment of decodePath(`/${parts.join('')}`) ?? []) {
          expect(segment).not.toMatch(/^\.{0,2}$|[/\0]/);
        }
      }),
    );
  });
});

describe('file names', () => {
  test.each([
    ['rep.v2.csv', 'rep.v2', '.csv'],
    ['a/rep.v2.CSV.gz', 'a/rep.v2', '.csv.gz'],
    ['a.ndjson.zst', 'a', '.ndjson.zst'],
    ['x.tar.gz', 'x.tar', '.gz'],
    ['.csv.gz', '.csv', '.gz'],
    ['a.b/c', 'a.b/c', ''],
    ['a/X.CSV', 'a/X', '.csv'],
    ['a/.env', 'a/.env', ''],
    ['a/x.', 'a/x.', ''],
    ['a/x..csv', 'a/x.', '.csv'],
  ])('%j has the stem %j and the extension %j', (rel, stem, extension) => {
    expect([stemOf(rel), extensionOf(rel)]).toEqual([stem, extension]);
  });

  test.each(['.git', '~$book.xlsx', 'venv', '__pycache__', 'node_modules'])(
    '%j is ignored (DS-24)',
    (name) => expect(isIgnoredComponent(name)).toBe(true),
  );

  test.each(['venv2', 'a.git', '$~x', '_svc', 'Venv'])('%j is not ignored', (name) =>
    expect(isIgnoredComponent(name)).toBe(false),
  );

  test('names sort as their UTF-8 bytes, also past U+FFFF', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6 }).map((value) => value.toWellFormed());
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { examples: [['\u{1F600}', '\uff5e']] },
    );
  });

  test('sorting orders texts as their UTF-8 bytes and leaves equal ones as they came', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3 }).map((value) => value.toWellFormed());
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const items = texts.map((text, index) => ({ text, index }));
        const sorted = sortedByBytes(items, ({ text }) => text);
        const expected = items.toSorted(
          (a, b) => Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)) || a.index - b.index,
        );
        expect(sorted).toEqual(expected);
      }),
      { examples: [[['\u{1F600}', '\uff5e', 'a', '\uff5e']], [['b', 'a', 'b']]] },
    );
  });
});
