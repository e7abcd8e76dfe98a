/**
 * find: a rare text in a million log events through the run endpoint, against ripgrep over the same events as NDJSON.
 */
import type { Benchmark } from '../benchmark.ts';
import { EVENTS, eventData, NEEDLE, SHORT_NEEDLE } from '../event-data.ts';
import { asked, startWithEvents } from '../event-queries.ts';
import { NotMeasurable } from '../benchmark.ts';
import { output } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';

const FOUND = 3;

export const find: Benchmark = {
  name: 'find',
  work: `a rare text in ${EVENTS.toLocaleString('en-US')} log events through /search2/api/run/`,
  async run(bench) {
    const ripgrep = Bun.which('rg');
    if (ripgrep === null) throw new NotMeasurable('ripgrep is not installed');
    const data = await eventData(EVENTS);
    await using service = await startWithEvents(bench, data);
    const search = async (text: string): Promise<number> => {
      const { rows, ms } = await asked(service, `"${text}" | table id, data`);
      requireEqual(`events with ${text}`, rows.length, FOUND);
      return ms;
    };
    const grep = async (text: string): Promise<number> => {
      const startedAt = performance.now();
      const lines = await output([ripgrep, '--ignore-case', '--fixed-strings', text, data.lines]);
      const ms = performance.now() - startedAt;
      requireEqual(`lines with ${text}`, lines.trim().split('\n').length, FOUND);
      return ms;
    };
    await search(NEEDLE);
    await search(SHORT_NEEDLE);
    await grep(NEEDLE);
    const rounds = await inTurns(bench, {
      indexed: () => search(NEEDLE),
      ripgrep: () => grep(NEEDLE),
      scan: () => search(SHORT_NEEDLE),
      'ripgrep, short': () => grep(SHORT_NEEDLE),
    });
    return [
      {
        part: 'by the substring index',
        subject: { name: 'svc', unit: 'ms', values: rounds.indexed },
        reference: { name: 'ripgrep', unit: 'ms', values: rounds.ripgrep },
        goal: { of: 'ratio', atMost: 0.3 },
      },
      {
        part: 'by looking at every event',
        subject: { name: 'svc', unit: 'ms', values: rounds.scan },
        reference: { name: 'ripgrep', unit: 'ms', values: rounds['ripgrep, short'] },
        goal: { of: 'ratio', atMost: 3 },
      },
    ];
  },
};
