/**
 * dashboard: a page of twelve panels over a million sealed events in Debian's Chromium, from navigation to the last panel
 * painted: the first time, when every answer is worked out, and again, when those of the last seconds are taken.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, NotMeasurable } from '../benchmark.ts';
import { EVENTS, sealedEventData } from '../event-data.ts';
import { asked, startWithSealed } from '../event-queries.ts';
import { TestBrowser } from '../../test/support/browser.ts';
import { PANELS } from './sealed.ts';

const CHROMIUM = '/usr/bin/chromium';
const LIMIT_MS = 60_000;
const FORMS = [
  'single',
  'bar',
  'pie',
  'bar',
  'table',
  'bar',
  'line',
  'stacked-area',
  'stacked-bar',
];

function definition(): string {
  const panels = PANELS.map((query, at) => ({
    title: `Panel ${at}`,
    query,
    form: FORMS[at] ?? 'line',
    width: 4,
  }));
  return JSON.stringify({ title: 'All', time: { earliest: '' }, rows: [{ panels }] });
}

export const dashboard: Benchmark = {
  name: 'dashboard',
  work: `a page of twelve panels over ${EVENTS.toLocaleString('en-US')} events in a browser`,
  async run(bench) {
    if (!existsSync(CHROMIUM)) throw new NotMeasurable(`needs ${CHROMIUM}`);
    await using service = await startWithSealed(bench, await sealedEventData(EVENTS));
    await Bun.write(join(service.docroot, 'all.dashboard.yaml'), definition());
    await service.accounts.grant('bench', 'all', 'read');
    await using browser = await TestBrowser.start();
    const worked: number[] = [];
    const kept: number[] = [];
    const show = async (values: number[]): Promise<void> => {
      // A context of its own: nothing is in the browser's cache.
      const page = await browser.open(service, { extraHTTPHeaders: service.headers });
      const from = performance.now();
      await page.goto('/ui/all/', { waitUntil: 'commit' });
      await page.locator('#dashboard[data-ready]').waitFor({ timeout: LIMIT_MS });
      values.push(performance.now() - from);
      await page.context().close();
    };
    for (let round = 0; round <= bench.rounds; round++) {
      await service.stop();
      await service.run();
      // The children that answer are there, as on a server that is in use.
      await asked(service, '* | stats count');
      await show(worked);
      await show(kept);
    }
    const finding = (part: string, values: readonly number[]) => ({
      part,
      // The first round warms the browser up.
      subject: { name: 'svc', unit: 'ms' as const, values: values.slice(1) },
      reference: null,
      goal: { of: 'value' as const, atMost: 2_000 },
    });
    return [
      finding('navigation to painted, every answer worked out', worked),
      finding('again', kept),
    ];
  },
};
