/**
 * The plot of growth: what more rows do to the cost of a piece of work, as an SVG file for RESULTS.md. Both axes are
 * logarithmic, so that a cost in step with the rows is a straight line and an unchanged cost a flat one.
 */
import { type Finding, median } from './benchmark.ts';

/** A cost over rows, as a multiple of the cost at the fewest rows. */
interface Curve {
  readonly name: string;
  /** A curve to compare with, drawn dashed. */
  readonly isReference: boolean;
  /** By rows, the first with `times` 1. */
  readonly points: readonly { readonly rows: number; readonly times: number }[];
}

const WIDTH = 760;
const HEIGHT = 420;
const FRAME = { left: 64, right: 190, top: 48, bottom: 48 };
/** Told apart by people who see colours differently (Okabe and Ito, 2008), and on light and dark paper. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];
const LEAST_GAP = 16;
const INK = '#767676';

/** The curves that findings with `growth` make up. */
export function curvesOf(findings: readonly Finding[]): Curve[] {
  const costs = new Map<string, { rows: number; cost: number; isReference: boolean }[]>();
  const add = (name: string, rows: number, values: readonly number[], isReference: boolean) =>
    costs.set(name, [...(costs.get(name) ?? []), { rows, cost: median(values), isReference }]);
  for (const { growth, subject, reference } of findings) {
    if (growth === undefined) continue;
    add(growth.curve, growth.rows, subject.values, false);
    if (growth.reference !== undefined && reference !== null)
      add(growth.reference, growth.rows, reference.values, true);
  }
  return [...costs].map(([name, found]) => {
    const sorted = found.toSorted((a, b) => a.rows - b.rows);
    const first = sorted[0]!;
    const points = sorted.map(({ rows, cost }) => ({ rows, times: cost / first.cost }));
    return { name, isReference: first.isReference, points };
  });
}

/** The plot as an SVG document. Throws RangeError without curves. */
export function growthPlot(curves: readonly Curve[]): string {
  const points = curves.flatMap((curve) => curve.points);
  if (points.length === 0) throw new RangeError('no curves');
  const decades = {
    x: decadesOf(points.map(({ rows }) => rows)),
    y: decadesOf(points.map(({ times }) => times)),
  };
  const inner = {
    width: WIDTH - FRAME.left - FRAME.right,
    height: HEIGHT - FRAME.top - FRAME.bottom,
  };
  const x = (rows: number): number => FRAME.left + share(rows, decades.x) * inner.width;
  const y = (times: number): number =>
    HEIGHT - FRAME.bottom - share(times, decades.y) * inner.height;
  const right = WIDTH - FRAME.right;
  const bottom = HEIGHT - FRAME.bottom;
  const grid = [
    ...powers(decades.x).flatMap((rows) => [
      line(x(rows), FRAME.top, x(rows), bottom),
      text(x(rows), bottom + 20, rows.toLocaleString('en-US'), 'middle'),
    ]),
    ...powers(decades.y).flatMap((times) => [
      line(FRAME.left, y(times), right, y(times)),
      text(FRAME.left - 8, y(times) + 4, `${times} ×`, 'end'),
    ]),
  ];
  const ends = spaced(curves.map((curve) => y(curve.points.at(-1)!.times)));
  const drawn = curves.flatMap((curve, at) => {
    const colour = COLOURS[at % COLOURS.length]!;
    const path = curve.points
      .map(({ rows, times }) => `${round(x(rows))},${round(y(times))}`)
      .join(' ');
    const dashes = curve.isReference ? ' stroke-dasharray="6 4"' : '';
    const last = curve.points.at(-1)!;
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>`,
      ...curve.points.map(
        ({ rows, times }) =>
          `<circle cx="${round(x(rows))}" cy="${round(y(times))}" r="3.5" fill="${colour}"/>`,
      ),
      text(right + 12, ends[at]! + 4, `${curve.name} ${shownTimes(last.times)}`, 'start', colour),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    text(
      FRAME.left,
      26,
      'Time of one piece of work as a multiple of the time at the fewest rows',
      'start',
    ),
    ...grid,
    text(FRAME.left + inner.width / 2, HEIGHT - 8, 'rows or events', 'middle'),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** The powers of ten around the values, as exponents. */
function decadesOf(values: readonly number[]): readonly [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))];
}

function powers([low, high]: readonly [number, number]): number[] {
  return Array.from({ length: high - low + 1 }, (_, at) => Number(`1e${low + at}`));
}

/** Where a value lies between two powers of ten, 0 to 1. */
function share(value: number, [low, high]: readonly [number, number]): number {
  return (Math.log10(value) - low) / (high - low);
}

/** The places of labels, moved apart so that none covers another. */
function spaced(places: readonly number[]): number[] {
  const order = places.map((_, at) => at).sort((a, b) => places[a]! - places[b]!);
  const moved = [...places];
  for (const [rank, at] of order.entries()) {
    const above = order[rank - 1];
    if (above !== undefined) moved[at] = Math.max(moved[at]!, moved[above]! + LEAST_GAP);
  }
  return moved;
}

function shownTimes(times: number): string {
  return `${times >= 10 ? Math.round(times) : times.toFixed(1)} ×`;
}

function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${INK}" stroke-opacity="0.35"/>`;
}

function text(x: number, y: number, content: string, anchor: string, colour = INK): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${colour}">${Bun.escapeHTML(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
