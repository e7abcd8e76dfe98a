/** What the parts of a chart know of each other: what is drawn, how, and what a reader points at. */
import type { ChartModel } from './data.ts';
import type { ChartForm } from './forms.ts';
import type { FigureForm, Threshold } from './look.ts';
import type { SeriesColor } from './palette.ts';

/** A place across and one of the series drawn; `series` -1: all of them. */
export interface Point {
  readonly place: number;
  readonly series: number;
}

export interface PictureLook extends FigureForm {
  readonly form: ChartForm;
  /** Of each series drawn. */
  readonly colors: readonly SeriesColor[];
  /** Pixels. */
  readonly height: number;
  readonly isLog: boolean;
  /** Ends of the axis of figures; null: as the figures need. */
  readonly min: number | null;
  readonly max: number | null;
  readonly thresholds: readonly Threshold[];
  /** Seconds; null: from the first to the last place. */
  readonly span: readonly [from: number, to: number] | null;
  readonly isZoomable: boolean;
}

export interface PictureEvents {
  /** Null: no longer at any. Pixels from the corner of the picture. */
  pointed(point: Point | null, left: number, top: number): void;
  pressed(point: Point): void;
  /** Places from the first to the last. */
  dragged(low: number, high: number): void;
}

export interface Picture {
  /** Where a point is drawn, to put words beside it. */
  placeOf(point: Point): readonly [left: number, top: number];
  /** Shows which places are meant; null: none. */
  mark(places: readonly [low: number, high: number] | null): void;
  remove(): void;
}

export type DrawPicture = (
  box: HTMLElement,
  model: ChartModel,
  look: PictureLook,
  events: PictureEvents,
) => Picture;
