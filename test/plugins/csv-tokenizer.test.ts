/** The tokenizer against papaparse, against itself on cut texts, and its documented leniency. */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import Papa from 'papaparse';
import { cases } from '../support/long.ts';
import { cellAt, cellValue } from '../../plugins/csv/cell-value.ts';
import { RowSpans } from '../../plugins/csv/tokenizer.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';

function scanned(text: string, delimiter = ',', isFinal = true): RowSpans {
  const spans = new RowSpans();
  spans.scan(text, 0, { delimiter: delimiter.charCodeAt(0), isFinal, stopAt: text.length });
  return spans;
}

function rowsOf(text: string, delimiter = ',', isFinal = true): string[][] {
  const spans = scanned(text, delimiter, isFinal);
  return Array.from({ length: spans.count }, (_, row) => spans.spellings(text, row).map(cellValue));
}

const pieces = fc.constantFrom(
  'a',
  '1',
  '"',
  '""',
  ',',
  ';',
  '\n',
  '\r',
  '\r\n',
  ' ',
  'é',
  '😀',
  '',
);
const wildText = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));
const cellText = fc.array(pieces, { maxLength: 4 }).map((parts) => parts.join(''));

test('RFC 4180 tables read as papaparse reads them (DS-62)', () => {
  const cell = fc.tuple(cellText, fc.boolean());
  const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  });
  const property = fc.property(
    table,
    fc.constantFrom(',', ';', '\t', '|'),
    fc.constantFrom<'\n' | '\r\n' | '\r'>('\n', '\r\n', '\r'),
    fc.boolean(),
    (rows, delimiter, newline, hasFinalNewline) => {
      const lines = rows.map((cells) => {
        const line = cells.map(([text, isQuoted]) =>
          isQuoted || text.includes(delimiter) || /["\r\n]/.test(text)
            ? `"${text.replaceAll('"', '""')}"`
            : text,
        );
        return line.join(delimiter) || '""';
      });
      const text = lines.join(newline) + (hasFinalNewline ? newline : '');
      const peer = Papa.parse<string[]>(text, { delimiter, newline }).data;
      if (hasFinalNewline) peer.pop();
      expect(rowsOf(text, delimiter)).toEqual(peer);
    },
  );
  fc.assert(property, { numRuns: 2_000 });
});

test('a text cut anywhere gives the first rows of the whole text, never another', () => {
  const property = fc.property(wildText, fc.nat(30), (text, cut) => {
    const whole = rowsOf(text);
    const head = text.slice(0, cut);
    const spans = scanned(head, ',', false);
    expect(rowsOf(head, ',', false)).toEqual(whole.slice(0, spans.count));
    const rest = scanned(text.slice(spans.consumed));
    if (rest.state === 'stop') expect(spans.count + rest.count).toBe(whole.length);
  });
  fc.assert(property, { numRuns: cases(3_000) });
});

test('rows and what stands between them cover the text, and spellings join to it', () => {
  const property = fc.property(wildText, (text) => {
    const spans = scanned(text);
    let at = 0;
    for (let row = 0; row < spans.count; row++) {
      expect(text.slice(at, spans.start(row))).toMatch(/^[\r\n]*$/);
      expect(text.slice(spans.start(row), spans.contentEnd(row))).toBe(
        spans.spellings(text, row).join(','),
      );
      expect(text.slice(spans.contentEnd(row), spans.end(row))).toMatch(/^(?:\r\n|\n|\r|)$/);
      expect(spans.width(row)).toBe(spans.spellings(text, row).length);
      at = spans.end(row);
    }
    if (spans.state === 'stop') expect(text.slice(at)).toMatch(/^[\r\n]*$/);
    else expect(spans.state).toBe('open-quote');
  });
  fc.assert(property, { numRuns: cases(3_000) });
});

test('a scan that stops early goes on where it stopped', () => {
  const property = fc.property(wildText, fc.integer({ min: 1, max: 10 }), (text, step) => {
    const whole = scanned(text);
    const rows: string[][] = [];
    const spans = new RowSpans();
    for (let at = 0; at < text.length; at = spans.consumed) {
      spans.scan(text, at, { delimiter: 44, isFinal: true, stopAt: at + step });
      for (let row = 0; row < spans.count; row++) {
        rows.push(spans.spellings(text, row).map(cellValue));
      }
      if (spans.consumed === at) break;
    }
    expect(rows).toEqual(rowsOf(text));
    expect(spans.state).toBe(text === '' ? 'stop' : whole.state);
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('the value delivered to a sink is the text of the cell, or the number with exactly that text', () => {
  const digits = fc.stringMatching(/^-?[0-9]{0,17}(\.[0-9]{0,9})?(e[0-9])?$/);
  const property = fc.property(fc.oneof(digits, wildText), (spelling) => {
    if (/^"/.test(spelling) && scanned(spelling).state !== 'stop') return;
    const value = cellAt(`x${spelling}y`, 1, 1 + spelling.length);
    expect(String(value)).toBe(cellValue(spelling));
    if (typeof value === 'number') expect(Object.is(value, -0)).toBe(false);
  });
  fc.assert(property, { numRuns: cases(5_000) });
  expect(['12', '-3', '0', '1.5', '0.000001'].map((text) => cellAt(text, 0, text.length))).toEqual([
    12, -3, 0, 1.5, 0.000001,
  ]);
  const texts = ['007', '-0', '1.50', '.5', '5.', '1e3', '0.0000001', '1234567890123456'];
  expect(texts.map((text) => cellAt(text, 0, text.length))).toEqual(texts);
});

test.each([
  ['a"b,c\n', [['a"b', 'c']], 'a quote inside an unquoted cell is literal'],
  ['"a"b,c\n', [['ab', 'c']], 'text after a closing quote belongs to the cell'],
  ['"a"b"c",d\n', [['ab"c"', 'd']], 'quotes in that text are literal'],
  ['"a" ,b\n', [['a ', 'b']], 'spaces after a closing quote are kept'],
  [' "a",b\n', [[' "a"', 'b']], 'a quote after a space does not open a quoted cell'],
  ['"a""b"\n', [['a"b']], 'doubled quotes are one'],
  ['"a\nb","c\rd"\n', [['a\nb', 'c\rd']], 'line ends inside quotes belong to the cell'],
  ['\n\r\n\ra\n\n', [['a']], 'lines without content are no rows (DS-63)'],
  ['""\n', [['']], 'a quoted empty cell is a row'],
  [' \n', [[' ']], 'a line of one space is a row'],
  [
    'a,\n,b\n',
    [
      ['a', ''],
      ['', 'b'],
    ],
    'empty cells count at both ends',
  ],
  ['a,', [['a', '']], 'a delimiter at the end of the file has an empty cell after it'],
])('%j reads as %j: %s', (text, rows) => {
  expect(rowsOf(text)).toEqual(rows);
});

test('an open quote at the end is reported with its place', () => {
  const spans = scanned('a,"b\nc');
  expect([spans.state, spans.openCell, spans.count]).toEqual(['open-quote', 2, 0]);
});

test('limits are exact: columns of a row, characters of a cell', () => {
  const wide = (columns: number) => `${','.repeat(columns - 1)}\n`;
  expect(scanned(wide(MAX_COLUMNS)).count).toBe(1);
  expect(scanned(wide(MAX_COLUMNS + 1)).state).toBe('wide-row');
  const long = 'x'.repeat(MAX_CELL_CHARACTERS);
  const quotes = '""'.repeat(MAX_CELL_CHARACTERS);
  expect(scanned(`${long},"${long}"y\n`).state).toBe('large-cell');
  expect(scanned(`${long},"${long}"\n"${quotes}"`).count).toBe(2);
  expect(scanned(`${long}x\n`).state).toBe('large-cell');
  expect(scanned(`"${quotes}x"\n`).state).toBe('large-cell');
  expect(scanned(`${long}x`, ',', false).state).toBe('large-cell');
  expect(scanned(`"${long}`, ',', false).state).toBe('incomplete');
});
