/** What a caller says of a chart. */
import type { FigureForm, Threshold } from './look.ts';
import type { ColorName } from './palette.ts';
import type { ChartForm } from './forms.ts';

export interface ChartPoint {
  /** Name of the column of places, and its value there; a time as in the data. */
  readonly column: string;
  readonly place: string;
  /** Where a span of time ends; null for names. */
  readonly until: string | null;
  readonly series: string;
  readonly value: number | null;
}

export interface ChartOptions extends FigureForm {
  readonly form: ChartForm;
  /** What the chart shows, for screen readers. */
  readonly label: string;
  /** Pixels; 280 unless given. */
  readonly height?: number;
  readonly isLog?: boolean;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly thresholds?: readonly Threshold[];
  /** By the name of a series. */
  readonly colors?: Readonly<Record<string, ColorName>>;
  /** What the axis of time shows, also where nothing is. */
  readonly span?: readonly [from: Date, to: Date];
  /** A place in words, where a time alone is not what it stands for. */
  readonly placeText?: (seconds: number) => string;
  /** The sum of several figures in words: `12 events`; left out where a sum means nothing. */
  readonly sumText?: (sum: number) => string;
  /** `fold`: opened by the reader; `hidden`: for screen readers only. */
  readonly table?: 'fold' | 'hidden' | 'none';
  readonly hasLegend?: boolean;
  /** Shortcut that focuses it. */
  readonly key?: string;
  /** A click on a point, or Enter. */
  readonly chosen?: (point: ChartPoint) => void;
  /** A span of time that was marked. */
  readonly zoom?: (from: Date, to: Date) => void;
}
