/** A pie: one slice for each series at its one place, with its name and share beside it. */
import { fillOf, figureText } from './look.ts';
import type { DrawPicture } from './picture.ts';
import { tokenColor } from '../token-color.ts';
import { localNumber } from '../times.ts';
import { widthOf } from '../plot.ts';

/** A smaller part of the whole has its name in the legend only. */
const LEAST_NAMED = 0.03;
const GAP = 12;
const MAX_RADIUS = 160;

export const drawPie: DrawPicture = (box, { series }, look, events) => {
  const canvas = document.createElement('canvas');
  box.append(canvas);
  const values = series.map(({ values: [value] }) => Math.max(0, value ?? 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  const starts = values.map(
    (_, at) => values.slice(0, at).reduce((sum, value) => sum + value, 0) / (total || 1),
  );
  let size = { width: 0, radius: 0, x: 0, y: 0 };
  let marked = -1;

  const angleOf = (part: number): number => part * 2 * Math.PI - Math.PI / 2;
  const paint = (): void => {
    const width = widthOf(box);
    const { height } = look;
    const ratio = devicePixelRatio;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const radius = Math.max(24, Math.min(MAX_RADIUS, height / 2 - 20, width / 4));
    size = { width, radius, x: width / 2, y: height / 2 };
    const pen = canvas.getContext('2d')!;
    pen.scale(ratio, ratio);
    pen.font = '12px system-ui';
    pen.textBaseline = 'middle';
    for (const [at, value] of values.entries()) {
      const [from, to] = [angleOf(starts[at]!), angleOf(starts[at]! + value / (total || 1))];
      const middle = (from + to) / 2;
      const shift = at === marked ? 6 : 0;
      const [x, y] = [size.x + Math.cos(middle) * shift, size.y + Math.sin(middle) * shift];
      pen.beginPath();
      pen.moveTo(x, y);
      pen.arc(x, y, radius, from, to);
      pen.closePath();
      pen.fillStyle = fillOf(look.colors[at]!);
      pen.fill();
      pen.strokeStyle = tokenColor('--surface');
      pen.lineWidth = 2;
      pen.stroke();
      if (value / (total || 1) < LEAST_NAMED) continue;
      const isRight = Math.cos(middle) >= 0;
      const left = size.x + Math.cos(middle) * (radius + GAP);
      const room = isRight ? width - left : left;
      const share = ` ${shareText(value, total)}`;
      let name = series[at]!.name;
      while (name.length > 1 && pen.measureText(`${name}…${share}`).width > room)
        name = name.slice(0, -1);
      const text = name === series[at]!.name ? name : `${name}…`;
      pen.fillStyle = tokenColor('--ink');
      pen.textAlign = isRight ? 'left' : 'right';
      pen.fillText(text + share, left, size.y + Math.sin(middle) * (radius + GAP));
    }
  };
  const sliceAt = (x: number, y: number): number => {
    if (Math.hypot(x - size.x, y - size.y) > size.radius + 6) return -1;
    const part = (Math.atan2(y - size.y, x - size.x) + 2.5 * Math.PI) / (2 * Math.PI);
    return starts.findLastIndex((start, at) => start <= part % 1 && values[at]! > 0);
  };
  canvas.addEventListener('pointermove', ({ offsetX, offsetY }) => {
    const series = sliceAt(offsetX, offsetY);
    events.pointed(series < 0 ? null : { place: 0, series }, offsetX, offsetY);
  });
  canvas.addEventListener('pointerleave', () => events.pointed(null, 0, 0));
  canvas.addEventListener('click', ({ offsetX, offsetY }) => {
    const series = sliceAt(offsetX, offsetY);
    if (series >= 0) events.pressed({ place: 0, series });
  });
  paint();
  const observer = new ResizeObserver(() => {
    if (widthOf(box) !== size.width) paint();
  });
  observer.observe(box);

  return {
    placeOf: ({ series: at }) => {
      marked = at;
      paint();
      const middle = angleOf((starts[at] ?? 0) + (values[at] ?? 0) / (total || 1) / 2);
      const reach = (at < 0 ? 0 : size.radius) * 0.6;
      return [size.x + Math.cos(middle) * reach, size.y + Math.sin(middle) * reach];
    },
    mark: (places) => {
      if (places !== null || marked < 0) return;
      marked = -1;
      paint();
    },
    remove: () => observer.disconnect(),
  };
};

function shareText(value: number, total: number): string {
  const percent = total === 0 ? 0 : (value / total) * 100;
  return `${localNumber(percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent))} %`;
}

export function sliceText(
  name: string,
  value: number,
  total: number,
  look: Parameters<typeof figureText>[1],
): string {
  return `${name}: ${figureText(value, look)}, ${shareText(value, total)}`;
}
