/**
 * The plot of growth, as a picture a reader opens: its curves are those of the findings.
 */
import { expect, test } from 'bun:test';
import { parseDocument } from 'htmlparser2';
import type { Finding } from '../../bench/benchmark.ts';
import { curvesOf, growthPlot } from '../../bench/growth-plot.ts';

function finding(rows: number, ms: readonly number[], copyMs: number): Finding {
  return {
    part: '',
    subject: { name: 'svc', unit: 'ms', values: ms },
    reference: { name: 'copy', unit: 'ms', values: [copyMs] },
    goal: null,
    growth: { curve: 'edit <all>', rows, reference: 'copy' },
  };
}

test('a curve gives medians as multiples of that of the fewest rows', () => {
  const curves = curvesOf([finding(100_000, [30, 10, 20], 8), finding(10_000, [4], 4)]);
  expect(curves).toEqual([
    {
      name: 'edit <all>',
      isReference: false,
      points: [
        { rows: 10_000, times: 1 },
        { rows: 100_000, times: 5 },
      ],
    },
    {
      name: 'copy',
      isReference: true,
      points: [
        { rows: 10_000, times: 1 },
        { rows: 100_000, times: 2 },
      ],
    },
  ]);
});

test('the plot is well-formed, stays inside of its frame, and names every curve', () => {
  const svg = growthPlot(curvesOf([finding(10_000, [4], 4), finding(1_000_000, [400], 300)]));
  expect(parseDocument(svg, { xmlMode: true }).children.length).toBeGreaterThan(0);
  expect(svg).toContain('edit &lt;all&gt; 100 ×');
  for (const [, at] of svg.matchAll(/ c[xy]="([\d.]+)"/g)) {
    expect(Number(at)).toBeGreaterThan(0);
    expect(Number(at)).toBeLessThan(760);
  }
});
