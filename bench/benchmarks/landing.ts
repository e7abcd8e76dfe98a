/**
 * landing: the start page of 2,000 resources in a browser without anything cached, until its scripts have run and it was
 * painted; in folders, which are folded, and in one folder, which is not; and its filter.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openAs, TestBrowser } from '../../test/support/browser.ts';
import type { Bench, Benchmark } from '../benchmark.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const FILES = 2_000;
const FOLDERS = 20;
const LIMIT_MS = 60_000;

/** Time from the start of the navigation, once two frames were painted after the scripts ran. */
const INTERACTIVE = `new Promise((resolve) => {
  const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
  if (document.readyState === 'complete') painted();
  else addEventListener('load', painted);
})`;

/** Time from a key to the list that holds what was typed. */
const FILTERED = `new Promise((resolve) => {
  const field = document.querySelector('[name=filter]');
  const startedAt = performance.now();
  new MutationObserver((_, observer) => {
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - startedAt));
  }).observe(document.querySelector('main'), { childList: true, subtree: true });
  field.value = 'file-19';
  field.dispatchEvent(new Event('input', { bubbles: true }));
})`;

export const landing: Benchmark = {
  name: 'landing',
  work: 'the start page of 2,000 resources in Chromium, nothing cached, from navigation to painted and scripts run',
  async run(bench) {
    await using folded = await serviceWith(bench, 'folded', (index) => `folder-${index % FOLDERS}`);
    await using flat = await serviceWith(bench, 'flat', () => '');
    await using browser = await TestBrowser.start();
    const measure = async (
      service: BenchService,
      run: (page: Page) => Promise<number>,
      path = '/',
    ) => {
      const page = await openAs(browser, service, 'bench');
      try {
        await page.goto(path, { waitUntil: 'commit' });
        return await run(page);
      } finally {
        await page.context().close();
      }
    };
    const interactive = (page: Page) => page.evaluate<number>(INTERACTIVE);
    const rounds = await inTurns(bench, {
      plain: () => measure(folded, interactive, '/auth/login'),
      folded: () => measure(folded, interactive),
      flat: () => measure(flat, interactive),
      filter: () =>
        measure(folded, async (page) => {
          await interactive(page);
          return page.evaluate<number>(FILTERED);
        }),
    });
    return [
      { part: 'in 20 folders', values: rounds.folded, reference: rounds.plain },
      { part: 'in one folder', values: rounds.flat, reference: rounds.plain },
      { part: 'its filter, from a key to 111 matches', values: rounds.filter, reference: null },
    ].map(({ part, values, reference }) => ({
      part,
      subject: { name: 'svc', unit: 'ms' as const, values },
      reference: reference && { name: 'the sign-in page', unit: 'ms' as const, values: reference },
      goal: { of: 'value' as const, atMost: 1000 },
    }));
  },
};

async function serviceWith(
  bench: Bench,
  name: string,
  folderOf: (index: number) => string,
): Promise<BenchService> {
  const folder = join(bench.folder, name);
  const service = await BenchService.start({ ...bench, folder });
  for (let index = 0; index < FILES; index++) {
    const path = join(service.docroot, folderOf(index));
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `file-${index}.${index % 2 === 0 ? 'csv' : 'md'}`), 'a,b\n1,2\n');
  }
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const { resources } = (await (await service.get('/')).json()) as { resources: string[] };
    if (resources.length === FILES) return service;
    if (performance.now() > until) throw new Error(`${resources.length} files are listed`);
    await Bun.sleep(100);
  }
}
