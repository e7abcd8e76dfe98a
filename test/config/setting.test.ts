import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  accepted,
  boolean,
  bytes,
  choice,
  formatBytes,
  integer,
  list,
  map,
  path,
  port,
} from '../../src/config/setting.ts';
import type { Parsed, RawValue } from '../../src/config/setting.ts';
import {
  baseUrl,
  bindHost,
  extension,
  hostPattern,
  issuer,
  mediaType,
  network,
} from '../../src/config/values.ts';

const summary = 'x';

function value(parsed: Parsed<unknown>): unknown {
  return parsed.ok ? parsed.value : `refused: ${parsed.problem}`;
}

describe('text of variables and flags (DS-195, DS-198)', () => {
  test.each(['1', 'true', 'YES', ' On '])('%p switches on', (given) => {
    expect(boolean({ default: false, summary }).parseText(given)).toEqual(accepted(true));
  });

  test.each(['0', 'False', 'no', 'OFF '])('%p switches off', (given) => {
    expect(boolean({ default: true, summary }).parseText(given)).toEqual(accepted(false));
  });

  test.each(['', '2', 'y', 'truee'])('%p is no boolean', (given) => {
    expect(boolean({ default: true, summary }).parseText(given).ok).toBe(false);
  });

  test.each([
    ['0', 0],
    [' 512 ', 512],
    ['1KiB', 1024],
    ['10 mib', 10_485_760],
    ['2GiB', 2_147_483_648],
  ])('%p bytes are %p', (given, expected) => {
    const setting = bytes({ default: 1, min: 0, summary });
    expect(setting.parseText(given)).toEqual(accepted(expected));
    expect(setting.parseRaw(given)).toEqual(accepted(expected));
  });

  test.each(['', '10MB', '1.5GiB', '-1', '1e3', '99999999GiB', 'KiB'])(
    '%p is no byte size',
    (given) => {
      expect(bytes({ default: 1, summary }).parseText(given).ok).toBe(false);
    },
  );

  test('lists split at commas, are trimmed and drop empty items', () => {
    const setting = list({ default: [], refine: extension, summary });
    expect(setting.parseText(' csv, .XLSX ,,')).toEqual(accepted(['.csv', '.xlsx']));
    expect(setting.parseText('')).toEqual(accepted([]));
  });

  test('maps split at commas and the first equals sign', () => {
    const setting = map({ default: {}, values: ['file', 'none'], refineName: extension, summary });
    expect(setting.parseText('log=file, .TMP = none')).toEqual(
      accepted({ '.log': 'file', '.tmp': 'none' }),
    );
    expect(value(setting.parseText('log'))).toContain('a=b,c=d');
    expect(value(setting.parseText('log=other'))).toContain("one of file, none for '.log'");
  });

  test('choices ignore case and space in text but not in YAML', () => {
    const setting = choice({ default: 'json', values: ['json', 'text'], summary });
    expect(setting.parseText(' JSON')).toEqual(accepted('json'));
    expect(setting.parseRaw('JSON').ok).toBe(false);
  });

  test('a byte size printed with its unit reads back as itself', () => {
    const setting = bytes({ default: 1, min: 0, max: 2 ** 50, summary });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 50 }), (size) => {
        expect(setting.parseText(formatBytes(size))).toEqual(accepted(size));
      }),
      { verbose: true },
    );
  });
});

describe('YAML values (DS-196)', () => {
  const nested = new Map<string, RawValue>();

  test.each([
    ['a quoted number is no number', port({ default: 1, summary }).parseRaw('8000')],
    ['a number is no text', list({ default: [], summary }).parseRaw([1])],
    ['yes is no boolean', boolean({ default: true, summary }).parseRaw('yes')],
    ['a text is no list', list({ default: [], summary }).parseRaw('csv')],
    ['a map is no path', path({ default: '.', summary }).parseRaw(nested)],
    ['an empty value is no path', path({ default: '.', summary }).parseRaw(null)],
    ['a fraction is no integer', integer({ default: 1, min: 0, max: 9, summary }).parseRaw(1.5)],
    ['infinity is no port', port({ default: 1, summary }).parseRaw(Number.POSITIVE_INFINITY)],
    ['NUL is in no path', path({ default: '.', summary }).parseRaw('a\0b')],
  ])('%s', (_, parsed) => {
    expect(parsed.ok).toBe(false);
  });

  test('a path that may be unset takes null', () => {
    const setting = path({ default: null, summary });
    expect(setting.parseRaw(null)).toEqual(accepted(null));
    expect(setting.parseText('')).toEqual(accepted(null));
  });

  test('a long wrong value is cut in the message', () => {
    expect(value(boolean({ default: true, summary }).parseRaw('x'.repeat(5000)))).toHaveLength(
      'refused: must be true or false, not '.length + 61,
    );
  });

  test('names that differ only in spelling are one name', () => {
    const setting = map({ default: {}, values: ['none'], refineName: extension, summary });
    const given = new Map([
      ['csv', 'none'],
      ['.CSV', 'none'],
    ]);
    expect(setting.parseRaw(given)).toMatchObject({ ok: false, index: 1 });
  });
});

describe('texts with a form of their own', () => {
  const readers = { bindHost, hostPattern, network, baseUrl, issuer, extension, mediaType };

  test.each([
    ['bindHost', '127.0.0.1', '127.0.0.1'],
    ['bindHost', '[::1]', '::1'],
    ['bindHost', 'LocalHost', 'localhost'],
    ['hostPattern', '*.Example.org', '*.example.org'],
    ['hostPattern', '::1', '[::1]'],
    ['hostPattern', '[::1]', '[::1]'],
    ['network', '10.0.0.0/8', '10.0.0.0/8'],
    ['network', 'FD00::/8', 'fd00::/8'],
    ['network', '192.0.2.1', '192.0.2.1'],
    ['baseUrl', 'https://data.example.org/svc//', 'https://data.example.org/svc'],
    ['baseUrl', '', ''],
    ['issuer', 'https://id.example.org/', 'https://id.example.org/'],
    ['extension', 'CSV', '.csv'],
    ['mediaType', 'Text/CSV', 'text/csv'],
  ] as const)('%s reads %p as %p', (reader, given, expected) => {
    expect(value(readers[reader](given))).toBe(expected);
  });

  test.each([
    ['bindHost', ''],
    ['bindHost', 'http://x'],
    ['bindHost', 'a b'],
    ['hostPattern', 'example.org:8000'],
    ['hostPattern', 'a.*.org'],
    ['hostPattern', '*'],
    ['network', '10.0.0.0/33'],
    ['network', '10.0.0.0/-1'],
    ['network', '::/129'],
    ['network', 'example.org'],
    ['network', 'fe80::1%eth0'],
    ['network', '10.0.0.0/8/8'],
    ['baseUrl', 'ftp://x'],
    ['baseUrl', 'https://user:pw@x'],
    ['baseUrl', 'https://x?'],
    ['baseUrl', 'https://x/#a'],
    ['baseUrl', 'example.org'],
    ['extension', 'tar.gz'],
    ['extension', '..'],
    ['extension', '__proto__'],
    ['mediaType', 'text'],
    ['mediaType', 'text/csv; charset=utf-8'],
  ] as const)('%s refuses %p', (reader, given) => {
    expect(readers[reader](given).ok).toBe(false);
  });
});
