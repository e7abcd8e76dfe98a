/** What a chart shows of a result, and in which colours; the colours themselves measured in both looks. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type ChartData, modelOf } from '../../src/browser/shared/chart/data.ts';
import { colorsOf, isColorName, meaningOf } from '../../src/browser/shared/chart/palette.ts';

const dataOf = (types: Readonly<Record<string, string>>, rows: ChartData['rows']): ChartData => ({
  columns: Object.entries(types).map(([name, type]) => ({ name, type })),
  rows,
});
const wide = (count: number): ChartData => {
  const names = Array.from({ length: count }, (_, index) => `host-${index}`);
  const row = Object.fromEntries(names.map((name, index) => [name, index + 1]));
  return dataOf({ _time: 'time', ...Object.fromEntries(names.map((name) => [name, 'number'])) }, [
    { ...row, _time: '2026-01-01T00:10:00Z' },
    { ...row, _time: '2026-01-01T00:00:00Z' },
  ]);
};
const named = (model: ReturnType<typeof modelOf>) =>
  Object.fromEntries(model.series.map(({ name, values }) => [name, values]));

test('times run forward; of more than ten series the rest is one more where sums mean something', () => {
  const stacked = modelOf(wide(13), 'stacked-bar');
  expect(stacked.xs).toEqual([1_767_225_600, 1_767_226_200]);
  expect(stacked.series).toHaveLength(11);
  expect(stacked.series.at(-1)).toEqual({ name: '3 others', values: [6, 6], isRest: true });
  expect(stacked.notes).toEqual([]);
  const lines = modelOf(wide(13), 'line');
  expect(lines.series.map(({ name }) => name)).toEqual(
    Array.from({ length: 10 }, (_, index) => `host-${index + 3}`),
  );
  expect(lines.notes).toEqual(['The 10 largest of 13; the table has all.']);
  expect(modelOf(wide(10), 'stacked-bar').series).toHaveLength(10);
});

test('a second name splits the figures of the first; without repeats both name the place', () => {
  const rows = [
    { host: 'a', level: 'info', count: 5 },
    { host: 'a', level: 'error', count: 1 },
    { host: 'b', level: 'info', count: 2 },
  ];
  const types = { host: 'string', level: 'string', count: 'number' };
  const split = modelOf(dataOf(types, rows), 'stacked-bar');
  expect(split.labels).toEqual(['a', 'b']);
  // Levels lie in the order of how grave they are.
  expect(split.series.map(({ name }) => name)).toEqual(['error', 'info']);
  expect(named(split)).toEqual({ error: [1, null], info: [5, 2] });
  const plain = modelOf(dataOf(types, rows.slice(1)), 'bar');
  expect(plain.labels).toEqual(['a · error', 'b · info']);
});

test('a row of figures alone is a bar for each; nothing numeric draws nothing', () => {
  const figures = modelOf(
    dataOf({ count: 'number', mean: 'number' }, [{ count: 3, mean: 1.5 }]),
    'bar',
  );
  expect(figures.labels).toEqual(['count', 'mean']);
  expect(figures.series[0]!.values).toEqual([3, 1.5]);
  expect(modelOf(dataOf({ host: 'string' }, [{ host: 'a' }]), 'bar').series).toEqual([]);
  expect(modelOf({ columns: [], rows: [] }, 'pie').series).toEqual([]);
});

test('a pie has ten slices and the others, the largest first; of times it has the sums', () => {
  const rows = Array.from({ length: 14 }, (_, index) => ({ path: `/${index}`, count: index }));
  const pie = modelOf(dataOf({ path: 'string', count: 'number' }, rows), 'pie');
  expect(pie.series.map(({ name }) => name)).toEqual([
    ...Array.from({ length: 10 }, (_, index) => `/${13 - index}`),
    '3 others',
  ]);
  expect(pie.series.at(-1)!.values).toEqual([1 + 2 + 3]);
  expect(named(modelOf(wide(2), 'pie'))).toEqual({ 'host-1': [4], 'host-0': [2] });
});

test('OTHER is no series of its own, and NULL yields to those with a name', () => {
  const rows = [{ _time: '2026-01-01T00:00:00Z', NULL: 90, OTHER: 7, web: 1 }];
  const types = { _time: 'time', NULL: 'number', OTHER: 'number', web: 'number' };
  const model = modelOf(dataOf(types, rows), 'line');
  expect(model.series.map(({ name, isRest }) => [name, isRest])).toEqual([
    ['NULL', false],
    ['web', false],
    ['others', true],
  ]);
});

test('levels and status classes have their colours, and no colour comes twice', () => {
  const names = ['error', 'warn', 'info', 'debug', 'a', 'b', 'ERR', '200', '2xx', '503'];
  const tokens = colorsOf(names).map(({ token }) => token);
  expect(tokens.slice(0, 4)).toEqual(
    ['red', 'amber', 'blue', 'slate'].map((one) => `--series-${one}`),
  );
  expect(tokens[7]).toBe('--series-green');
  expect(new Set(tokens).size).toBe(names.length);
  expect(meaningOf('404')).toBe('amber');
  expect(meaningOf('4040')).toBeNull();
  expect(colorsOf(['web', 'constructor'], { web: 'pink' }).map(({ token }) => token)).toEqual([
    '--series-pink',
    '--series-green',
  ]);
});

type Color = readonly [number, number, number];

/** What people without one kind of cone see of linear red, green and blue (Machado and others, 2009). */
const SIGHTS: Readonly<Record<string, readonly Color[]>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const times = (matrix: readonly Color[], color: Color): Color =>
  matrix.map((row) =>
    row.reduce((sum, part, at) => sum + part * color[at]!, 0),
  ) as unknown as Color;

function linear(hex: string): Color {
  return [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Color;
}

function contrast(a: Color, b: Color): number {
  const [low, high] = [a, b]
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    .toSorted((x, y) => x - y);
  return high! / low!;
}

/** In OKLab, where equal distances look equally different. */
function distance(a: Color, b: Color): number {
  const [x, y] = [a, b].map((color) => {
    const cones = times(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      color.map((part) => Math.min(1, Math.max(0, part))) as unknown as Color,
    ).map(Math.cbrt) as unknown as Color;
    return times(
      [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
      ],
      cones,
    );
  });
  return Math.hypot(...x!.map((part, at) => part - y![at]!));
}

test('every colour stands out from the surface, and any two of a kind from each other, in both looks', () => {
  const read = (file: string) =>
    readFileSync(`${import.meta.dir}/../../src/pages/assets/${file}`, 'utf8');
  const colors = [
    ...read('charts.css').matchAll(/--series-(\w+): light-dark\((#\w{6}), (#\w{6})\)/g),
  ];
  expect(colors.map(([, name]) => name).filter((name) => isColorName(name!))).toHaveLength(10);
  const surface = /--surface: light-dark\((#\w{6}), (#\w{6})\)/.exec(read('site.css'))!;
  const problems: string[] = [];
  for (const look of [1, 2]) {
    const ground = linear(surface[look]!);
    for (const [, name, ...hexes] of colors) {
      const found = contrast(linear(hexes[look - 1]!), ground);
      if (found < 3) problems.push(`${name} in look ${look}: contrast ${found.toFixed(2)}`);
    }
    const own = colors.filter(([, name]) => isColorName(name!));
    const hatched = new Map(
      colorsOf(
        own.map(([, name]) => name!),
        Object.fromEntries(own.map(([, name]) => [name!, name! as 'red'])),
      ).map(({ token, isHatched }) => [token.slice('--series-'.length), isHatched]),
    );
    for (const [sight, matrix] of Object.entries(SIGHTS)) {
      for (const [at, [, name, ...hexes]] of own.entries()) {
        for (const [, other, ...others] of own.slice(0, at)) {
          // Hatched ones differ from plain ones by their hatching.
          if (sight !== 'all' && hatched.get(name!) !== hatched.get(other!)) continue;
          const seen = (hex: string) => times(matrix, linear(hex));
          const found = distance(seen(hexes[look - 1]!), seen(others[look - 1]!));
          if (found < (sight === 'all' ? 0.1 : 0.08))
            problems.push(`${name} and ${other} in look ${look}, ${sight}: ${found.toFixed(3)}`);
        }
      }
    }
  }
  expect(problems).toEqual([]);
});
