/** Queries that a reader narrows by clicking keep their text and mean what was clicked. */
import { describe, expect, test } from 'bun:test';
import {
  fieldTerm,
  startOf,
  termsAdder,
  withinTimes,
  timesOf,
} from '../../src/language/syntax/refine.ts';

describe('adding terms', () => {
  test.each([
    ['', 'host=a', 'host=a'],
    ['error', 'host=a', 'error host=a'],
    ['error | stats count by host', 'x=1', 'error x=1 | stats count by host'],
    ['search error | head 5', 'x=1', 'search error x=1 | head 5'],
    ['"a | b" | head 5', 'x=1', '"a | b" x=1 | head 5'],
    ['a OR b', 'x=1', 'a OR b x=1'],
    ['from shop/products | head 1', 'x=1', 'from shop/products | head 1'],
    ['search --filter host=a', 'x=1', 'search --filter host=a'],
  ])('%p with %p is %p', (query, terms, expected) => {
    expect(termsAdder(query)(terms)).toBe(expected);
  });

  test('times go with a blank query too', () => {
    expect(withinTimes('', '-24h', '')).toBe('* earliest=-24h');
    expect(withinTimes('err | head 1', '-7d@d', 'now')).toBe(
      'err earliest=-7d@d latest=now | head 1',
    );
    expect(withinTimes('err', '', '')).toBe('err');
  });

  test('a field and its value are quoted where they must be', () => {
    expect(fieldTerm('host', 'web-1')).toBe('host=web-1');
    expect(fieldTerm('host', 'a "b"\n', true)).toBe('NOT host="a \\"b\\"\\n"');
    expect(fieldTerm('my field', 5)).toBe('"my field"=5');
    expect(fieldTerm('a', 'OR')).toBe('a="OR"');
    expect(fieldTerm('a', 'x*')).toBe('a="x*"');
  });
});

test('how a query begins', () => {
  expect(startOf('error host=a | head 5')).toEqual({
    first: 'error host=a',
    isSearch: true,
    isOnlySearch: false,
  });
  // What stands behind the first stage is not read: it may be long, and a page asks several times.
  expect(startOf('error | no such stage')).toEqual({
    first: 'error',
    isSearch: true,
    isOnlySearch: false,
  });
  expect(startOf('error | ').isOnlySearch).toBe(true);
  expect(startOf('from a | head 5')).toEqual({
    first: 'from a',
    isSearch: false,
    isOnlySearch: false,
  });
  expect(startOf('error').isOnlySearch).toBe(true);
  expect(startOf(' ')).toEqual({ first: '', isSearch: true, isOnlySearch: true });
});

test.each([
  ['', '-24h', ''],
  ['level=error | timechart count by host', '-7d', ''],
  ['a b', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
  ['* | stats count', '@d', 'now'],
  ['x', '', '-1h'],
  ['"earliest=1" y', '2026-01-01 10:00', ''],
])('the times that %p was saved with, %p and %p, are found again', (query, earliest, latest) => {
  expect(timesOf(withinTimes(query, earliest, latest))).toEqual({ query, earliest, latest });
});

test('times that are not the last terms of the first stage belong to the query', () => {
  for (const query of ['earliest=-1h error', 'from a | where earliest="x"', 'error "earliest=-1h"'])
    expect(timesOf(query)).toEqual({ query, earliest: '', latest: '' });
});
