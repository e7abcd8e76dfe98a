/** Lines, areas, bars and heat maps, drawn by uPlot; bars and cells are painted here, so that one that is not zero is seen. */
import uPlot from 'uplot';
import { placeAxis, plainAxis, timeAxis, PLOT_PADDING, widthOf } from '../plot.ts';
import { tintedColor, tokenColor } from '../token-color.ts';
import type { ChartModel } from './data.ts';
import { axisTexts, colorIn, fillOf } from './look.ts';
import type { DrawPicture, PictureEvents, PictureLook, Point } from './picture.ts';

/** Pixels of the lowest bar and the smallest part of a stack. */
const LEAST_BAR = 2;
const MAX_BAR = 64;
/** Part of its place that the bars take. */
const BAR_SHARE = 0.9;
/** Below this height the axis of figures has its ends only. */
const LOW_PLOT = 160;
/** A shorter drag is a click. */
const MIN_DRAG = 6;
/** Pixels from which there is room for names at the ends of lines. */
const WIDE_PLOT = 560;
const MAX_LABEL = 140;
const LABEL_LINE = 14;
const HEAT_STEPS = 24;

export const drawPlot: DrawPicture = (box, model, look, events) => {
  const { form, isLog } = look;
  const isBars = form === 'bar' || form === 'stacked-bar';
  const isHeat = form === 'heat-map';
  const isArea = form === 'area' || form === 'stacked-area';
  const isStacked = form === 'stacked-area' || form === 'stacked-bar';
  const { xs, series } = model;
  const layers = layersOf(model, isStacked, isLog);
  const [low, high] = isHeat ? [-0.5, series.length - 0.5] : rangeOf(layers, look);
  const edges = edgesOf(model);
  const labels = form === 'line' ? endLabels(box, model) : [];
  const padding: uPlot.Padding =
    labels.length > 0
      ? [null, MAX_LABEL, null, null]
      : model.isTimed
        ? PLOT_PADDING
        : [null, 8, null, null];
  const across = model.isTimed ? timeAxis() : placeAxis(model.labels);
  const isDrawn = !isBars && !isHeat;
  // The top of a stack is drawn first, and what is below over it.
  const order = [...series.keys()].toReversed();
  const columns = order.map((at) => [...layers[at]!.tops]);

  const plot = new uPlot(
    {
      width: widthOf(box),
      height: look.height,
      padding,
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: look.isZoomable, y: false, setScale: false },
        points: isDrawn ? { size: 7 } : { show: false },
      },
      scales: {
        x: { time: model.isTimed, range: () => rangeAcross(model, look, edges, isDrawn) },
        y: { range: () => [low, high], distr: isLog && !isHeat ? 3 : 1, dir: isHeat ? -1 : 1 },
      },
      axes: [
        across,
        isHeat
          ? placeAxis(
              series.map(({ name }) => name),
              false,
            )
          : upwards(look, low, high),
      ],
      series: [
        {},
        ...order.map((at): uPlot.Series => {
          const color = look.colors[at]!;
          if (!isDrawn) return { paths: () => null, points: { show: false } };
          return {
            stroke: () => tokenColor(color.token),
            width: isStacked ? 1 : 2,
            points: { show: xs.length === 1 },
            ...(color.isHatched && !isArea && { dash: [6, 4] }),
            ...(isArea && { fill: () => fillOf(color, isStacked ? 100 : 22) }),
          };
        }),
      ],
      hooks: {
        draw: [
          (drawn) => {
            if (isBars) paintBars(drawn, model, look, edges, isStacked);
            if (isHeat) paintCells(drawn, model, look, edges);
            if (!isHeat) paintThresholds(drawn, look);
            paintEndLabels(drawn, labels, look);
          },
        ],
        setSelect: [
          ({ select: { left, width } }) => {
            if (look.isZoomable && width >= MIN_DRAG) drop(left, width);
          },
        ],
      },
    },
    [[...xs], ...columns],
    box,
  );

  const placeAt = (left: number): number => {
    const value = plot.posToVal(left, 'x');
    if (isDrawn) return plot.posToIdx(left);
    const found = edges.findLastIndex(([start]) => start <= value);
    return Math.max(0, found);
  };
  const seriesAt = (place: number, top: number): number => {
    if (isHeat)
      return Math.min(series.length - 1, Math.max(0, Math.round(plot.posToVal(top, 'y'))));
    const value = plot.posToVal(top, 'y');
    const distance = (at: number): number => {
      const { bottoms, tops } = layers[at]!;
      const [bottom, upper] = [bottoms[place] ?? 0, tops[place] ?? null];
      if (upper === null) return Infinity;
      if (!isStacked) return Math.abs(value - upper);
      const [from, to] = [Math.min(bottom, upper), Math.max(bottom, upper)];
      return value < from ? from - value : value > to ? value - to : -1;
    };
    if (form === 'bar' && series.length > 1) return barAt(plot, edges[place]!, series.length);
    return [...series.keys()].reduce((best, at) => (distance(at) < distance(best) ? at : best), 0);
  };
  const drop = (left: number, width: number): void =>
    events.dragged(placeAt(left), placeAt(left + width - 1));
  const mark = (left: number, width: number): void =>
    plot.setSelect({ left, width, top: 0, height: plot.over.clientHeight }, false);
  listen(plot, { placeAt, seriesAt, drop, mark, events, look });
  const observer = new ResizeObserver(() =>
    plot.setSize({ width: widthOf(box), height: look.height }),
  );
  observer.observe(box);

  return {
    placeOf: ({ place, series: at }) => {
      const [start, end] = edges[place]!;
      const middle = isDrawn ? xs[place]! : (start + end) / 2;
      const value = at < 0 ? high : isHeat ? at : (layers[at]!.tops[place] ?? 0);
      const { offsetLeft, offsetTop } = plot.over;
      return [offsetLeft + plot.valToPos(middle, 'x'), offsetTop + plot.valToPos(value, 'y')];
    },
    mark: (places) => {
      if (places === null) return mark(0, 0);
      // Without bars a single place has no width.
      const [start, end] = isDrawn
        ? [xs[places[0]]!, xs[places[1]]!]
        : [edges[places[0]]![0], edges[places[1]]![1]];
      const left = plot.valToPos(start, 'x');
      mark(left - (isDrawn ? 1 : 0), Math.max(2, plot.valToPos(end, 'x') - left));
    },
    remove: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
};

interface Layer {
  readonly bottoms: readonly number[];
  readonly tops: readonly (number | null)[];
}

/** What is above zero is stacked upwards, what is below downwards. */
function layersOf({ xs, series }: ChartModel, isStacked: boolean, isLog: boolean): Layer[] {
  const ups = xs.map(() => 0);
  const downs = xs.map(() => 0);
  return series.map(({ values }) => {
    if (!isStacked) {
      // A logarithm has no place for zero.
      const tops = isLog ? values.map((one) => (one !== null && one > 0 ? one : null)) : values;
      return { bottoms: xs.map(() => 0), tops };
    }
    const bottoms: number[] = [];
    const tops = values.map((one, at) => {
      const sums = (one ?? 0) < 0 ? downs : ups;
      bottoms.push(sums[at]!);
      return (sums[at]! += one ?? 0);
    });
    return { bottoms, tops };
  });
}

function rangeOf(
  layers: readonly Layer[],
  { isLog, min, max, height }: PictureLook,
): [number, number] {
  let [lowest, highest] = isLog ? [Infinity, 0] : [0, 0];
  for (const { tops } of layers) {
    for (const top of tops) {
      if (top === null) continue;
      lowest = Math.min(lowest, top);
      highest = Math.max(highest, top);
    }
  }
  if (isLog) {
    const bottom = 10 ** Math.floor(Math.log10(Number.isFinite(lowest) ? lowest : 1));
    // A figure that is the lowest end itself is seen too.
    const low = min !== null && min > 0 ? min : bottom === lowest ? bottom / 2 : bottom;
    const top = max !== null && max > low ? max : 10 ** Math.ceil(Math.log10(highest || 1));
    return [low, Math.max(top, low * 10)];
  }
  const room = height < LOW_PLOT ? 1 : 1.05;
  const low = min ?? lowest * room;
  const high = max ?? highest * room;
  return low < high ? [low, high] : [low, low + 1];
}

/** From where to where each place lasts. */
function edgesOf({ xs, isTimed }: ChartModel): (readonly [start: number, end: number])[] {
  if (!isTimed) return xs.map((at) => [at - 0.5, at + 0.5]);
  const steps = xs.slice(1).map((x, at) => x - xs[at]!);
  const least = steps.filter((step) => step > 0).reduce((a, b) => Math.min(a, b), Infinity);
  const step = Number.isFinite(least) ? least : 60;
  // Months differ in length; where a place is missing, the one before it is as long as the others.
  return xs.map((x, at) => [x, x + Math.min(steps[at] ?? step, step * 1.2) || x + step]);
}

function rangeAcross(
  { xs, isTimed }: ChartModel,
  { span }: PictureLook,
  edges: readonly (readonly [number, number])[],
  isDrawn: boolean,
): [number, number] {
  if (!isTimed) return [-0.5, xs.length - 0.5];
  const first = xs[0] ?? 0;
  const last = xs.at(-1) ?? 1;
  const end = isDrawn ? last : (edges.at(-1)?.[1] ?? last);
  const [from, to] = span ?? [first, end];
  const [low, high] = [Math.min(from, first), Math.max(to, end)];
  return low < high ? [low, high] : [low - 60, low + 60];
}

function upwards(look: PictureLook, low: number, high: number): uPlot.Axis {
  const isLow = look.height < LOW_PLOT;
  return {
    ...plainAxis,
    ...(isLow && { splits: () => [low, high] }),
    values: (_, splits) => axisTexts(splits, look),
    size: (_, texts) =>
      Math.max(44, 16 + 7 * Math.max(0, ...(texts ?? []).map((text) => (text ?? '').length))),
  };
}

type Edges = readonly (readonly [start: number, end: number])[];

/** Pixels of the canvas: where the bars of a place begin, and how wide they are together. */
function barsIn(
  plot: uPlot,
  [start, end]: Edges[number],
  count: number,
): [left: number, width: number] {
  const [from, to] = [plot.valToPos(start, 'x', true), plot.valToPos(end, 'x', true)];
  const width = Math.min((to - from) * BAR_SHARE, MAX_BAR * count * devicePixelRatio);
  return [(from + to - width) / 2, width];
}

function barAt(plot: uPlot, edges: Edges[number], count: number): number {
  const [left, width] = barsIn(plot, edges, count);
  const at = (plot.cursor.left! + plot.over.offsetLeft) * devicePixelRatio - left;
  return Math.min(count - 1, Math.max(0, Math.floor((at / width) * count)));
}

function paintBars(
  plot: uPlot,
  { series }: ChartModel,
  { colors, isLog }: PictureLook,
  edges: Edges,
  isStacked: boolean,
): void {
  const { ctx: pen, bbox } = plot;
  const least = LEAST_BAR * devicePixelRatio;
  const yOf = (value: number): number => plot.valToPos(value, 'y', true);
  const { min = 0, max = 1 } = plot.scales['y']!;
  const base = yOf(isLog ? min! : Math.min(Math.max(0, min!), max!));
  const fills = colors.map((color) => fillOf(color));
  const count = isStacked ? 1 : series.length;
  pen.save();
  pen.beginPath();
  pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  pen.clip();
  for (const [place, edge] of edges.entries()) {
    const [left, width] = barsIn(plot, edge, count);
    let [up, down] = [base, base];
    for (const [at, { values }] of series.entries()) {
      const value = values[place] ?? 0;
      if (value === 0 || (isLog && value < 0)) continue;
      const height = Math.max(least, Math.abs(yOf(value) - (isLog ? base : yOf(0))));
      const begin = isStacked ? (value < 0 ? down : up) : base;
      const top = value < 0 ? begin : begin - height;
      if (isStacked && value < 0) down = begin + height;
      else if (isStacked) up = top;
      pen.fillStyle = fills[at]!;
      const bar = width / count;
      const gap = count > 1 ? Math.min(bar * 0.1, 2 * devicePixelRatio) : 0;
      pen.fillRect(left + (isStacked ? 0 : at * bar), top, Math.max(1, bar - gap), height);
    }
  }
  pen.restore();
}

function paintCells(
  plot: uPlot,
  { series }: ChartModel,
  { isLog }: PictureLook,
  edges: Edges,
): void {
  const { ctx: pen } = plot;
  const scaled = (value: number): number => (isLog ? Math.log1p(value) : value);
  const most = Math.max(
    ...series.flatMap(({ values }) => values.map((one) => scaled(one ?? 0))),
    0,
  );
  if (most <= 0) return;
  const paints = new Map<number, string>();
  const gap = devicePixelRatio;
  for (const [row, { values }] of series.entries()) {
    const [top, bottom] = [
      plot.valToPos(row - 0.5, 'y', true),
      plot.valToPos(row + 0.5, 'y', true),
    ];
    for (const [place, [start, end]] of edges.entries()) {
      const value = values[place] ?? 0;
      if (value <= 0) continue;
      const step = Math.ceil((scaled(value) / most) * HEAT_STEPS);
      const paint = paints.get(step) ?? tintedColor('--accent', 12 + (88 * step) / HEAT_STEPS);
      paints.set(step, paint);
      const [left, right] = [plot.valToPos(start, 'x', true), plot.valToPos(end, 'x', true)];
      pen.fillStyle = paint;
      pen.fillRect(left, top + gap, Math.max(gap, right - left - gap), bottom - top - gap);
    }
  }
}

function paintThresholds(plot: uPlot, { thresholds }: PictureLook): void {
  const { ctx: pen, bbox } = plot;
  const { min, max } = plot.scales['y']!;
  for (const { from, color } of thresholds) {
    const paint = colorIn(color);
    if (paint === null || from <= min! || from > max!) continue;
    const y = plot.valToPos(from, 'y', true);
    pen.save();
    pen.strokeStyle = tokenColor(paint.token);
    pen.lineWidth = 1.5 * devicePixelRatio;
    pen.setLineDash([8 * devicePixelRatio, 4 * devicePixelRatio]);
    pen.beginPath();
    pen.moveTo(bbox.left, y);
    pen.lineTo(bbox.left + bbox.width, y);
    pen.stroke();
    pen.restore();
  }
}

interface EndLabel {
  readonly name: string;
  readonly value: number;
  readonly at: number;
}

/** Names stand at the ends of lines where there is room: to be told apart without colours. */
function endLabels(box: HTMLElement, { series, isTimed }: ChartModel): EndLabel[] {
  if (!isTimed || series.length < 2 || widthOf(box) < WIDE_PLOT) return [];
  return series.flatMap(({ name, values }, at) => {
    const value = values.findLast((one) => one !== null);
    return value === undefined || value === null ? [] : [{ name, value, at }];
  });
}

function paintEndLabels(plot: uPlot, labels: readonly EndLabel[], { colors }: PictureLook): void {
  const { ctx: pen, bbox } = plot;
  const line = LABEL_LINE * devicePixelRatio;
  if (labels.length * line > bbox.height) return;
  const wanted = labels
    .map((label) => ({ ...label, y: plot.valToPos(label.value, 'y', true) }))
    .toSorted((a, b) => a.y - b.y);
  // Pushed apart from above, and back from the bottom.
  const ys = wanted.map(({ y }) => Math.max(y, bbox.top));
  for (let at = 1; at < ys.length; at++) ys[at] = Math.max(ys[at]!, ys[at - 1]! + line);
  let limit = bbox.top + bbox.height;
  for (let at = ys.length - 1; at >= 0; at--) {
    ys[at] = Math.min(ys[at]!, limit);
    limit = ys[at]! - line;
  }
  pen.save();
  pen.font = `${12 * devicePixelRatio}px system-ui`;
  pen.textBaseline = 'middle';
  pen.textAlign = 'left';
  for (const [index, { name, at }] of wanted.entries()) {
    pen.fillStyle = tokenColor(colors[at]!.token);
    const room = (MAX_LABEL - 12) * devicePixelRatio;
    let text = name;
    while (text.length > 2 && pen.measureText(`${text}…`).width > room) text = text.slice(0, -1);
    pen.fillText(
      text === name ? name : `${text}…`,
      bbox.left + bbox.width + 6 * devicePixelRatio,
      ys[index]!,
    );
  }
  pen.restore();
}

interface Ears {
  readonly placeAt: (left: number) => number;
  readonly seriesAt: (place: number, top: number) => number;
  readonly drop: (left: number, width: number) => void;
  readonly mark: (left: number, width: number) => void;
  readonly events: PictureEvents;
  readonly look: PictureLook;
}

/** uPlot handles mouse drags; a finger would scroll the page instead. */
function listen(plot: uPlot, { placeAt, seriesAt, drop, mark, events, look }: Ears): void {
  const { over } = plot;
  let start: number | null = null;
  let pressedAt = 0;
  const at = ({ clientX, clientY }: MouseEvent): [left: number, top: number] => {
    const { left, top, width } = over.getBoundingClientRect();
    return [Math.min(width, Math.max(0, clientX - left)), clientY - top];
  };
  const pointOf = (event: MouseEvent): Point => {
    const [left, top] = at(event);
    const place = placeAt(left);
    return { place, series: seriesAt(place, top) };
  };
  over.addEventListener('pointermove', (event) => {
    const [left, top] = at(event);
    if (start !== null) {
      mark(Math.min(start, left), Math.abs(left - start));
      plot.setCursor({ left, top: 0 });
    }
    events.pointed(pointOf(event), over.offsetLeft + left, over.offsetTop + top);
  });
  over.addEventListener('pointerleave', () => events.pointed(null, 0, 0));
  over.addEventListener('pointerdown', (event) => {
    [pressedAt] = at(event);
    if (event.pointerType === 'mouse' || !look.isZoomable) return;
    start = pressedAt;
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointerup', (event) => {
    const [left] = at(event);
    if (start !== null) {
      const [low, width] = [Math.min(start, left), Math.abs(left - start)];
      start = null;
      if (width >= MIN_DRAG) return drop(low, width);
    }
    if (Math.abs(left - pressedAt) < MIN_DRAG) events.pressed(pointOf(event));
  });
  over.addEventListener('pointercancel', () => {
    start = null;
    mark(0, 0);
  });
}
