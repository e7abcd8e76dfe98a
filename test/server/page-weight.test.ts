/** How much script a page may bring: so much that it is pleasant, and so little that a phone has it at once. */
import { expect, test } from 'bun:test';
import { assetNamed } from '../../src/pages/assets.ts';
import { allPages } from './all-pages.ts';

const MAX_GZIP_BYTES = 250 * 1000;
/** Loaded by scripts when they are wanted, by the page that wants them. */
const LATER: Readonly<Record<string, readonly Parameters<typeof assetNamed>[0][]>> = {
  dataset: ['grid-chart.js'],
};

test('no page brings more than 250 KB of script, not counting the query editor', async () => {
  const pages = await allPages();
  const weights = pages.map(({ name, scripts = [] }) => {
    const names = ['frame.js' as const, ...scripts, ...(LATER[name] ?? [])];
    const counted = names.filter((script) => script !== 'query-editor.js');
    const bytes = counted.map((script) => Bun.gzipSync(assetNamed(script).content).length);
    return [name, bytes.reduce((sum, size) => sum + size, 0)] as const;
  });
  expect(weights.filter(([, bytes]) => bytes > MAX_GZIP_BYTES)).toEqual([]);
  expect(Math.max(...weights.map(([, bytes]) => bytes))).toBeGreaterThan(5000);
});
