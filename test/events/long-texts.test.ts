/**
 * Texts of a megabyte that are one string, or one escape after the other: a pattern with a choice for each character takes
 * seconds for them, or finds nothing, and the one writer stands still for everybody.
 */
import { expect, test } from 'bun:test';
import { extractAccessLog } from '../../src/events/intake/extract/access-log.ts';
import { Extraction } from '../../src/events/intake/extract/extraction.ts';
import { extractPairs } from '../../src/events/intake/extract/pairs.ts';
import { extractSyslog } from '../../src/events/intake/extract/syslog-fields.ts';
import {
  hasAwkwardNumbers,
  JsonParseError,
  parseEventJson,
} from '../../src/events/intake/json-text.ts';
import { spacedJson } from '../../src/events/read/term.ts';
import { parseLabels } from '../../src/events/intake/wire/loki-streams.ts';

const long = 'a'.repeat(1_000_000);
const escapes = '\\"'.repeat(500_000);

test('a value of a megabyte is found whole', () => {
  for (const style of ['kv', 'logfmt'] as const) {
    expect(extractPairs(`a="${long}" b=1`, style)).toEqual({ a: long, b: 1 });
  }
  const line = `1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "${long}" 200 1`;
  expect(extractAccessLog(line)).toMatchObject({ status: 200, bytes: 1 });
  const syslog = extractSyslog(`<1>1 - host app 1 id [x k="${long}"] text`, 0, 'UTC');
  expect(syslog).toMatchObject({ structured_data: { x: { k: long } }, message: 'text' });
  expect({ ...parseLabels(`{a="${long}"}`) }).toEqual({ a: long });
  expect(spacedJson(`{"a":"${long}","b":1}`)).toBe(`{"a": "${long}", "b": 1}`);
});

test('a megabyte of escapes is read or left alone, not searched again and again', () => {
  expect(spacedJson(`{"a":"${escapes}","b":1}`)).toBe(`{"a": "${escapes}", "b": 1}`);
  expect(hasAwkwardNumbers(`{"a":"1.0 ${escapes}","b":1}`)).toBe(false);
  expect(hasAwkwardNumbers(`{"a":"1.0 ${escapes}`)).toBe(false);
  for (const text of [`x a="${escapes}" b=1`, `x a="${escapes}`]) {
    expect(extractPairs(text, 'kv')).not.toBeNull();
  }
  expect(caught(() => parseLabels(`{a="${escapes}"}`))).toBe('the labels cannot be read');
});

test('lines that are made to be slow are read as fast as others', () => {
  const extraction = new Extraction({ extractors: [], syslogTimezone: 'UTC' });
  const read = (data: string, sourcetype = 'default') =>
    extraction.read({ index: 'a', source: 'b', sourcetype, data }, 0)?.members ?? null;
  // A level and a blank column, an element whose parameter has no name, elements without end.
  const blanks = ' '.repeat(60_000);
  expect(read(`2026-11-20T10:00:00Z INFO ${blanks}`)).toMatchObject({ level: 'INFO' });
  const element = `<13>1 - h a 1 i [x ${','.repeat(60_000)}]`;
  expect(read(element)).toMatchObject({ structured_data: { x: {} }, hostname: 'h' });
  const many = `<13>1 - h a 1 i ${'[a]'.repeat(300_000)}`;
  expect(read(many, 'syslog')).toMatchObject({ severity_name: 'notice', message: many.slice(4) });
});

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test('and they still mean the same', () => {
  expect(extractPairs('a="x \\"y\\"" b=2', 'kv')).toEqual({ a: 'x "y"', b: 2 });
  expect(
    extractSyslog('<1>1 - h a 1 i [x k="1\\]\\"" l=""][y] text', 0, 'UTC')?.['structured_data'],
  ).toEqual({ x: { k: '1]"', l: '' }, y: {} });
  expect({ ...parseLabels('{a="1", b="x\\ty,\\"}" }') }).toEqual({ a: '1', b: 'x\ty,"}' });
  expect(spacedJson('{"a:\\",":[1,2],"b":"\\\\"}')).toBe('{"a:\\",": [1, 2], "b": "\\\\"}');
  expect(hasAwkwardNumbers('{"a":"1.0","b":"\\\\","c":2}')).toBe(false);
  expect(hasAwkwardNumbers('{"a":"\\"","b":1.0}')).toBe(true);
  expect(hasAwkwardNumbers('{"a":"\\\\","b":1e5}')).toBe(true);
  expect(() => parseEventJson('{"[":[[]]}', 2)).toThrow(JsonParseError);
  expect(caught(() => parseEventJson('{"[\\"[[":[[]]}', 2))).toBe(
    'JSON parse error - Nesting deeper than 2: line 1 column 11 (char 10)',
  );
});
