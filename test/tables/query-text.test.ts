import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { lastValues } from '../../src/tables/read/list-parameters.ts';

const expected = (search: string) => new Map(new URLSearchParams(search));

test.each([
  '',
  '?',
  '?a=1&b=2&a=3',
  '?a',
  '?=x&&a=&=',
  '?a=b=c&d%3D=%26',
  '?q=a+b%2Bc&%2B=+',
  '?f=%7B%22_row_id%22%3A5%7D',
  '?x=%E2%82%AC&y=%E2%82&z=%zz&w=100%',
  '?x=%EF%BB%BFa&y=%00',
  '?ä=ö&__proto__=1',
])('the query %p has the values of the URL standard', (search) => {
  expect(lastValues(search)).toEqual(expected(search));
});

test('any query has the values of the URL standard', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '=',
    '&',
    '+',
    '%',
    '%2',
    '%41',
    '%C3%A4',
    '%C3',
    'é',
    '?',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const search = `?${pieces.join('')}`;
      expect(lastValues(search)).toEqual(expected(search));
    }),
    { seed: Number(process.env['SEED'] ?? 1), numRuns: 2_000 },
  );
});
