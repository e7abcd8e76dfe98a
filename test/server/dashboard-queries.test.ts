/** Values that are written into queries and filters of a dashboard (DS-286). */
import { describe, expect, test } from 'bun:test';
import { filledQuery, filledValue } from '../../src/browser/dashboard/filled.ts';

const EVIL = 'a" | from "x\\';

describe('a value in the address of the explorer is a text of the language', () => {
  test.each([
    ['host={host}', 'host="a\\" | from \\"x\\\\"'],
    ['host="{host}"', 'host="a\\" | from \\"x\\\\"'],
    [`host='{host}'`, `host='a" | from "x\\\\'`],
    [`host='it is {quote}'`, `host='it is \\''`],
    ['"say {host} twice" {host}', '"say a\\" | from \\"x\\\\ twice" "a\\" | from \\"x\\\\"'],
    ['{{host}} {other}', '{{host}} {other}'],
    ['"{{host}}"', '"{{host}}"'],
  ])('%s', (query, filled) => {
    expect(filledQuery(query, { host: EVIL, quote: "'" })).toBe(filled);
  });
});

test('a value in a filter is that value, whatever it looks like', () => {
  const filter = { state: '{s}', n: 5, $or: [{ name: 'x {s} y' }, { name: '{none}' }] };
  const text = JSON.stringify(filledValue(filter, { s: '"},{"$gt":""}' }));
  expect(JSON.parse(text)).toEqual({
    state: '"},{"$gt":""}',
    n: 5,
    $or: [{ name: 'x "},{"$gt":""} y' }, { name: '{none}' }],
  });
});
