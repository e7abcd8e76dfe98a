/** How the figures and places of a chart read, and the paints of its series. */
import { localNumber, localSize, localTime } from '../times.ts';
import { tintedColor, tokenColor } from '../token-color.ts';
import { type ColorName, colorNamed, isColorName, meaningOf, type SeriesColor } from './palette.ts';

export interface Threshold {
  /** Of values from there on. */
  readonly from: number;
  /** A colour of the palette, or a level such as `error`. */
  readonly color: string;
}

export interface FigureForm {
  /** Behind the number; `bytes` shows sizes. */
  readonly unit?: string | undefined;
  readonly decimals?: number | null | undefined;
}

const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 2 });
/** From here on numbers on axes are abbreviated: `12M`. */
const LARGE = 1_000_000;

export function figureText(value: number, { unit = '', decimals = null }: FigureForm): string {
  if (unit === 'bytes') return localSize(value);
  const text =
    decimals === null
      ? localNumber(Number(value.toPrecision(12)))
      : value.toLocaleString(undefined, {
          minimumFractionDigits: decimals,
          maximumFractionDigits: decimals,
        });
  return unit === '' ? text : `${text}\u00a0${unit}`;
}

export function axisTexts(splits: readonly (number | null)[], form: FigureForm): string[] {
  if (form.unit === 'bytes') return splits.map((one) => (one === null ? '' : localSize(one)));
  const isLarge = splits.some((one) => Math.abs(one ?? 0) >= LARGE);
  return splits.map((one) => {
    if (one === null) return '';
    const text = isLarge ? short.format(one) : localNumber(Number(one.toPrecision(12)));
    return form.unit === '%' ? `${text} %` : text;
  });
}

export function placeText(label: string, seconds: number, isTimed: boolean): string {
  return isTimed ? localTime(new Date(seconds * 1000)) : label;
}

/** The colour of the last threshold that a value has reached; null for none. */
export function thresholdColor(
  thresholds: readonly Threshold[],
  value: number | null,
): SeriesColor | null {
  if (value === null) return null;
  const reached = thresholds
    .filter(({ from }) => value >= from)
    .toSorted((a, b) => b.from - a.from)[0];
  return reached === undefined ? null : colorIn(reached.color);
}

export function colorIn(text: string): SeriesColor | null {
  const name: ColorName | null = isColorName(text) ? text : meaningOf(text);
  return name === null ? null : colorNamed(name);
}

const TILE = 8;

/** Solid or hatched; with `percent` over the surface. */
export function fillOf({ token, isHatched }: SeriesColor, percent = 100): string | CanvasPattern {
  const base = percent === 100 ? tokenColor(token) : tintedColor(token, percent);
  if (!isHatched) return base;
  const ratio = devicePixelRatio;
  const tile = document.createElement('canvas');
  tile.width = tile.height = Math.round(TILE * ratio);
  const pen = tile.getContext('2d')!;
  const size = tile.width;
  pen.fillStyle = base;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = tintedColor(token, percent === 100 ? 45 : 100);
  pen.lineWidth = 2 * ratio;
  pen.beginPath();
  // Beyond the corners too, so that the tiles join.
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - size, 2 * size);
    pen.lineTo(shift + 2 * size, -size);
  }
  pen.stroke();
  return pen.createPattern(tile, 'repeat')!;
}
