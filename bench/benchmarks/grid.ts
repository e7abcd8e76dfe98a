/**
 * grid: the page of a million rows in Debian's Chromium, from navigation to cells that can be used, and from "go to row
 * 900,000" to that row.
 */
import { existsSync } from 'node:fs';
import { type Benchmark, NotMeasurable } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { BenchService } from '../service.ts';
import { TestBrowser } from '../../test/support/browser.ts';

const ROWS = 1_000_000;
const FAR = 900_000;
const CHROMIUM = '/usr/bin/chromium';

export const grid: Benchmark = {
  name: 'grid',
  work: 'the page of 1M rows in a browser',
  async run(bench) {
    if (!existsSync(CHROMIUM)) throw new NotMeasurable(`needs ${CHROMIUM}`);
    await using service = await BenchService.start(bench, {
      'products.csv': await productCsv(ROWS),
    });
    await service.get('/api/products/?limit=1');
    await using browser = await TestBrowser.start();
    const opened: number[] = [];
    const scrolled: number[] = [];
    for (let round = 0; round <= bench.rounds; round++) {
      // A context of its own: nothing is in the browser's cache.
      const page = await browser.open(service, { extraHTTPHeaders: service.headers });
      const started = performance.now();
      await page.goto('/ui/products/', { waitUntil: 'commit' });
      await page.locator('#grid-0-0').waitFor();
      opened.push(performance.now() - started);
      await page.getByLabel('Go to row').fill(String(FAR));
      const asked = performance.now();
      await page.keyboard.press('Enter');
      await page.locator(`#grid-${FAR - 1}-0`, { hasText: /^P/ }).waitFor();
      scrolled.push(performance.now() - asked);
      await page.context().close();
    }
    const finding = (part: string, values: readonly number[]) => ({
      part,
      // The first round warms the browser up.
      subject: { name: 'svc', unit: 'ms' as const, values: values.slice(1) },
      reference: null,
      goal: { of: 'value' as const, atMost: 1_000 },
    });
    return [finding('navigation to usable', opened), finding('to row 900,000', scrolled)];
  },
};
