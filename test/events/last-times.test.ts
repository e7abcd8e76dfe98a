/**
 * Times at the end of the calendar and past it: never a text that is no time, never a failed request (EV-2, EV-30, EV-40).
 */
import { describe, expect, test } from 'bun:test';
import { parseTime, timeText } from '../../src/events/event-time.ts';
import { Extraction } from '../../src/events/intake/extract/extraction.ts';

const NOW = Date.parse('2026-11-20T10:15:00Z') * 1000;

describe('what programs write for no end', () => {
  for (const text of [
    '9999-12-31T23:59:59.9999999Z',
    '9999-12-31T23:59:59.999999Z',
    '9999-12-31 23:59:59.999990',
  ]) {
    test(text, () => {
      // The first reading remembers the second, the next one makes use of that.
      for (let at = 0; at < 2; at++)
        expect(timeText(parseTime(text)!)).toMatch(/^9999-12-31T23:59:59\.9999\d\dZ$/);
    });
  }
});

describe('an extractor of the configuration finds no time out of range', () => {
  const found: readonly (readonly [string, string, string | null])[] = [
    ['%s', '99999999999999999999', null],
    ['%s', '253402300800', null],
    ['%s', '253402300799', '9999-12-31T23:59:59.000000Z'],
    ['%Y %j', '9999 999', null],
    ['%Y-%m-%d %H:%M %z', '9999-12-31 23:00 -02:00', null],
    ['%Y-%m-%d %z', '0000-01-01 +23:00', null],
    ['%Y-%m-%d %z', '0000-01-01 -23:00', '0000-01-01T23:00:00.000000Z'],
  ];
  for (const [format, text, expected] of found) {
    test(`${text} as ${format.replaceAll('%', '')}`, () => {
      const time = { field: 'at', format, timezone: 'UTC' };
      const source = { sourcetype: '*', regex: '(?<at>.*)', grok: null, field: 'data', types: {} };
      const extraction = new Extraction({
        extractors: [{ ...source, time }],
        syslogTimezone: 'UTC',
      });
      const { text: fields } = extraction.fieldsOf(lineOf('x', text), undefined, NOW);
      const { event_time: eventTime = null } = JSON.parse(fields) as { event_time?: string };
      expect(eventTime).toBe(expected);
    });
  }
});

test('an access log past the year 9999 yields nothing that is no time', () => {
  const extraction = new Extraction({ extractors: [], syslogTimezone: 'UTC' });
  const line = '10.0.0.7 - - [31/Dec/9999:23:59:59 -1200] "GET / HTTP/1.1" 200 1';
  expect(extraction.fieldsOf(lineOf('access_combined', line), undefined, NOW)).toEqual({
    text: '{}',
    eventTime: null,
    host: null,
  });
});

function lineOf(sourcetype: string, data: string) {
  return { index: 'default', source: 'default', sourcetype, data };
}
