/** Companion schemas and options: DS-70 to DS-72. */
import { expect, test } from 'bun:test';
import {
  MAX_COMPANION_BYTES,
  parseCompanionSchema,
  parseOptions,
} from '../../src/tables/infer/companion.ts';

test('a companion schema declares types by column name and is served verbatim (DS-70)', () => {
  const schema = {
    type: 'object',
    name: 'people',
    columns: { age: { type: 'int64', note: 'in years' }, __proto__x: { type: 'str' } },
    more: [1, { a: null }],
  };
  const text = ` ${JSON.stringify(schema)}\n`;
  const parsed = parseCompanionSchema(text);
  expect(parsed.columns).toEqual(
    new Map(Object.entries(schema.columns).map(([name, { type }]) => [name, { type }])),
  );
  expect(parsed.verbatim).toBe(text);
  expect([parsed.problem, parsed.ignored]).toEqual([null, false]);
});

test('names such as __proto__ and constructor are ordinary columns', () => {
  const text = '{"columns":{"__proto__":{"type":"int"},"constructor":{"type":"bool"}}}';
  expect([...parseCompanionSchema(text).columns!.keys()]).toEqual(['__proto__', 'constructor']);
  expect(parseCompanionSchema(text).verbatim).toBe(text);
  expect(parseCompanionSchema('{"columns":{"a":{"__proto__":{"type":"int"}}}}').problem).toContain(
    '"a"',
  );
});

test('a generated schema is ignored, without a problem (DS-70)', () => {
  const parsed = parseCompanionSchema('{"generated_by":null,"columns":{"a":{"type":"integer"}}}');
  expect(parsed).toEqual({ columns: null, verbatim: null, problem: null, ignored: true });
});

test.each([
  ['', 'not valid JSON'],
  ['{"columns":', 'not valid JSON'],
  ['[]', 'not a JSON object'],
  ['null', 'not a JSON object'],
  ['{}', '"columns" must be an object'],
  ['{"columns":[]}', '"columns" must be an object'],
  ['{"columns":{"a":"integer"}}', 'column "a" has no type name'],
  ['{"columns":{"a":{"type":7}}}', 'column "a" has no type name'],
  [`{"columns":{},"x":"${'y'.repeat(MAX_COMPANION_BYTES)}"}`, 'larger than 1048576 bytes'],
  [`{"columns":{},"x":${'['.repeat(32)}${']'.repeat(32)}}`, 'nested deeper than 32 levels'],
  ['['.repeat(500_000), 'nested deeper than 32 levels'],
])('an unreadable schema has a problem text and declares nothing', (text, reason) => {
  const parsed = parseCompanionSchema(text);
  expect(parsed.problem).toBe(`Companion schema: ${reason}`);
  expect([parsed.columns, parsed.verbatim, parsed.ignored]).toEqual([null, null, false]);
});

test('32 levels are read, and brackets in texts are no levels', () => {
  const deep = `{"columns":{},"x":${'['.repeat(31)}${']'.repeat(31)},"y":"\\"${'['.repeat(99)}"}`;
  expect(parseCompanionSchema(deep).problem).toBeNull();
  expect(parseCompanionSchema('\uFEFF{"columns":{}}').problem).toBeNull();
});

test('options are read for the kinds they mean something to (DS-72)', () => {
  const text = '{"header_row":"3","delimiter":"|","encoding":"utf-16le","sheet":"x","other":1}';
  expect(parseOptions(text, { kind: 'csv' })).toEqual({
    options: { headerRow: 3, delimiter: '|', encoding: 'utf-16le' },
    problem: null,
  });
  expect(parseOptions(text, { kind: 'excel' })).toEqual({
    options: { headerRow: 3 },
    problem: null,
  });
  expect(parseOptions(text, { kind: 'parquet' })).toEqual({ options: {}, problem: null });
  expect(parseOptions('{"header_row":1}', { kind: 'csv' }).options).toEqual({ headerRow: 1 });
});

test('a wrong value is left out and named, the others hold (DS-72)', () => {
  for (const headerRow of ['0', '1.5', '"x"', '"-1"', 'true', 'null', '1e400', '[1]']) {
    const parsed = parseOptions(`{"header_row":${headerRow},"delimiter":";"}`, { kind: 'csv' });
    expect(parsed.options).toEqual({ delimiter: ';' });
    expect(parsed.problem).toBe('Companion options: "header_row" must be an integer from 1 on');
  }
  const parsed = parseOptions('{"delimiter":"::","encoding":"UTF-8"}', { kind: 'csv' });
  expect(parsed).toEqual({
    options: {},
    problem:
      'Companion options: "delimiter" must be a comma, semicolon, tab or vertical bar; ' +
      '"encoding" must be one of utf-8, utf-16le, utf-16be, latin1, windows-1252, cp850, windows-1250, windows-1251, iso-8859-2, macintosh',
  });
});

test('a file that is no JSON object gives no options and a problem (DS-72)', () => {
  expect(parseOptions('{', { kind: 'csv' })).toEqual({
    options: {},
    problem: 'Companion options: not valid JSON',
  });
  expect(parseOptions('[]', { kind: 'excel' }).problem).toBe(
    'Companion options: not a JSON object',
  );
});
