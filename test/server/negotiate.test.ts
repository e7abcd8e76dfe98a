/** What clients ask for in their headers (DS-19, DS-44, DS-46). */
import { describe, expect, test } from 'bun:test';
import {
  acceptsGzip,
  isHtmlClient,
  isNotModified,
  parseEntityTags,
  preferredType,
} from '../../src/http/reply/negotiate.ts';

describe('DS-44: Accept', () => {
  const OFFERED = ['application/json', 'text/csv', 'application/x-ndjson'];

  test.each([
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; charset=utf-8', 'text/csv'],
    ['application/json;q=0.5, text/csv;q=0.8', 'text/csv'],
    ['text/csv, application/json', 'text/csv'],
    ['application/json, text/csv', 'application/json'],
    ['text/html, */*;q=0.8, text/csv;q=0.1', 'text/csv'],
    ['text/csv;q=0', null],
    ['*/*', null],
    ['text/*', null],
    ['text/html', null],
    ['', null],
    ['text/csv;q=abc', null],
    [null, null],
  ])('%p prefers %p', (accept, type) => {
    expect(preferredType(accept, OFFERED)).toBe(type);
  });

  test('of an HTML client contains text/html, whatever its weight', () => {
    expect(isHtmlClient('text/html,application/xhtml+xml')).toBe(true);
    expect(isHtmlClient('application/json, text/html;q=0')).toBe(true);
    expect(isHtmlClient('*/*')).toBe(false);
    expect(isHtmlClient(null)).toBe(false);
  });
});

test.each([
  ['gzip', true],
  ['br, gzip;q=0.5', true],
  ['x-gzip', true],
  ['*', true],
  ['*;q=0, gzip', true],
  ['gzip;q=0, *', false],
  ['GZIP', true],
  ['identity', false],
  ['gzipped', false],
  ['', false],
  [null, false],
])('DS-19: Accept-Encoding %p takes gzip: %p', (header, takes) => {
  expect(acceptsGzip(header)).toBe(takes);
});

describe('DS-46: entity tags', () => {
  test('are compared without weakness and without the suffix of a compressed answer', () => {
    for (const header of ['"v.r"', 'W/"v.r"', '"v.r-gz"', '"a", "v.r"', '*', ' * ']) {
      expect(isNotModified(header, 'v.r')).toBe(true);
    }
    for (const header of ['"v"', 'v.r', '"V.r"', '', '"v.r', null]) {
      expect(isNotModified(header, 'v.r')).toBe(false);
    }
  });

  test('are told apart as strong and weak', () => {
    expect(parseEntityTags('"a-gz", W/"b" ,"c,d"')).toEqual([
      { value: 'a', isWeak: false },
      { value: 'b', isWeak: true },
      { value: 'c,d', isWeak: false },
    ]);
    expect(parseEntityTags('nonsense')).toEqual([]);
  });
});
