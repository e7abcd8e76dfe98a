/**
 * Lines of forty programs in their documented formats, and what is found in each whatever the sourcetype (EV-40, EV-46):
 * format, time with the key it comes from, host, fields. `⏎` is a line feed, `␛` an escape. Written for the year 2026.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Extraction } from '../../src/events/intake/extract/extraction.ts';
import { timeText } from '../../src/events/event-time.ts';

const NOW = Date.parse('2026-11-21T00:00:00Z') * 1000;
const GOLDEN = join(import.meta.dir, '../golden/log-lines.golden');
const settings = { extractors: [], syslogTimezone: 'UTC' };

interface Case {
  readonly line: string;
  readonly facts: string;
  readonly fields: unknown;
}

const programs = readFileSync(GOLDEN, 'utf8')
  .split(/^# /m)
  .slice(1)
  .map((part) => {
    const [name = '', ...lines] = part.trimEnd().split('\n');
    const cases: Case[] = [];
    for (const [at, line] of lines.entries()) {
      if (!line.startsWith('> ')) continue;
      const facts = lines[at + 1]!.slice(2);
      const fields = facts === 'nothing' ? {} : JSON.parse(lines[at + 2]!);
      cases.push({ line: line.slice(2), facts, fields });
    }
    return { name, cases };
  });

function lineOf(text: string, sourcetype: string) {
  const data = text.replaceAll('⏎', '\n').replaceAll('␛', '\u001b');
  return { index: 'default', source: 'x', sourcetype, data };
}

test('the corpus is whole', () => {
  const lines = programs.flatMap(({ cases }) => cases);
  expect(programs.length).toBeGreaterThan(55);
  expect(lines.length).toBeGreaterThan(300);
});

describe.each(['default', 'nginx', 'AUTO'])('as %s', (sourcetype) => {
  test.each(programs)('$name', ({ cases }) => {
    const extraction = new Extraction(settings);
    for (const { line, facts, fields } of cases) {
      const sent = lineOf(line, sourcetype);
      const found = extraction.read(sent, NOW);
      const told =
        found === null
          ? ['nothing']
          : [
              found.format,
              found.time?.key ?? 'no time',
              ...(found.host === null ? [] : [`${found.host.key}: ${found.host.value}`]),
            ];
      expect([line, told.join(' | ')]).toEqual([line, facts]);
      const { text, eventTime, host } = extraction.fieldsOf(sent, undefined, NOW);
      const got = JSON.parse(text) as Record<string, unknown>;
      expect({ line, fields: got }).toEqual({ line, fields } as never);
      expect(host).toBe(found?.host?.value ?? null);
      if (eventTime !== null && found?.time?.key !== 'event_time')
        expect(got['event_time']).toBe(timeText(eventTime));
    }
  });
});

test.each(['None', 'plain'])('nothing is looked for under the sourcetype %s', (sourcetype) => {
  const extraction = new Extraction(settings);
  for (const { cases } of programs) {
    for (const { line } of cases) expect(extraction.read(lineOf(line, sourcetype), NOW)).toBeNull();
  }
});

test('what a client sent stays, whatever the data says', () => {
  for (const { cases } of programs) {
    const extraction = new Extraction(settings);
    for (const { line, fields } of cases) {
      const client = { event_time: '2001-01-01T00:00:00Z', level: 'mine', extra: [1] };
      const { text } = extraction.fieldsOf(lineOf(line, 'default'), client, NOW);
      expect(JSON.parse(text)).toEqual({ ...(fields as object), ...client });
    }
  }
});

test.each([
  ['a long line of spaces', `level=info ${' '.repeat(500_000)}x=1`],
  ['a thousand keys without end', 'a='.repeat(300_000)],
  ['quotes that do not close', `a="${'\\"'.repeat(250_000)}`],
  ['brackets', `[${'['.repeat(500_000)}`],
  ['CEF with many keys', `CEF:0|a|b|c|d|e|1|${' k= '.repeat(100_000)}`],
  ['CEF of pipes', `CEF:0|${'\\|'.repeat(250_000)}`],
  ['commas', `1,2026/11/20 10:00:00,1,TRAFFIC,${',"'.repeat(250_000)}`],
  ['a kafka line of brackets', `[2026-11-20 10:00:00,123] INFO ${' (a.'.repeat(120_000)}`],
  ['colons after a level', `2026-11-20T10:00:00Z INFO ${'a::'.repeat(150_000)}`],
  ['JSON that does not end', `${'{"a":'.repeat(100_000)}`],
  ['JSON behind a message', `2026-11-20T10:00:00Z x${' {"'.repeat(150_000)}}`],
  ['frames in frames', '{"log":"'.repeat(1000)],
  ['columns', `#Fields: ${'a '.repeat(200_000)}`],
  ['envoy', `[2026-11-20T10:00:00.123Z] "GET / HTTP/1.1" 200 - 1 1 1 - ${'"'.repeat(400_000)}`],
  [
    'haproxy',
    `1.1.1.1:1 [20/Nov/2026:10:00:00.123] a b/c 1/2 200 1 - - ---- ${'{'.repeat(400_000)}`,
  ],
  ['nginx', `2026/11/20 10:00:00 [error] 1#1: ${', client: "'.repeat(50_000)}`],
])('%s costs no more than their length', (_, data) => {
  const extraction = new Extraction(settings);
  const startedAt = performance.now();
  extraction.read({ index: 'i', source: 's', sourcetype: 'default', data }, NOW);
  expect(performance.now() - startedAt).toBeLessThan(500);
});
