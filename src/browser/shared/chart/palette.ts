/**
 * Ten colours, none twice in a chart; levels and status classes have colours of their own. The first five are told apart
 * with any colour vision, and so are the others, which are hatched or dashed.
 */
import { type Level, levelNamed } from '../../../base/text/level-names.ts';

export interface SeriesColor {
  /** Name of a CSS token. */
  readonly token: string;
  readonly isHatched: boolean;
}

/** In the order in which series take them; red is last, because it reads as an error. */
const COLORS = [
  'green',
  'blue',
  'amber',
  'purple',
  'cyan',
  'pink',
  'olive',
  'brown',
  'slate',
  'red',
] as const;

export type ColorName = (typeof COLORS)[number];

const PLAIN: ReadonlySet<ColorName> = new Set(['green', 'blue', 'amber', 'purple', 'red']);

/** Of what stands for all other series. */
export const REST_COLOR: SeriesColor = { token: '--series-rest', isHatched: false };

const LEVEL_COLORS: Readonly<Record<Level, ColorName>> = {
  fatal: 'purple',
  error: 'red',
  warn: 'amber',
  notice: 'cyan',
  info: 'blue',
  ok: 'green',
  debug: 'slate',
  trace: 'brown',
};

const STATUS: Readonly<Record<string, ColorName>> = {
  1: 'slate',
  2: 'green',
  3: 'cyan',
  4: 'amber',
  5: 'red',
};

export function isColorName(text: string): text is ColorName {
  return (COLORS as readonly string[]).includes(text);
}

export function colorNamed(name: ColorName): SeriesColor {
  return { token: `--series-${name}`, isHatched: !PLAIN.has(name) };
}

/** What a level or a status class is drawn in; null for any other name. */
export function meaningOf(name: string): ColorName | null {
  const level = levelNamed(name);
  if (level !== null) return LEVEL_COLORS[level];
  const status = /^([1-5])(?:xx|\d\d)$/i.exec(name)?.[1];
  return status === undefined ? null : STATUS[status]!;
}

/**
 * For up to ten names. What the caller chose wins over the meaning of a name; of two names with one colour, the first has it and the
 * other gets one that is left.
 */
export function colorsOf(
  names: readonly string[],
  chosen: Readonly<Record<string, ColorName>> = {},
): SeriesColor[] {
  const taken = new Set<ColorName>();
  const firsts = names.map((name) => {
    const wanted = Object.hasOwn(chosen, name) ? chosen[name]! : meaningOf(name);
    if (wanted === null || taken.has(wanted)) return null;
    taken.add(wanted);
    return wanted;
  });
  const left = COLORS.filter((color) => !taken.has(color));
  return firsts.map((color) => {
    const given = color ?? left.shift();
    return given === undefined ? REST_COLOR : colorNamed(given);
  });
}
