/** The forms of charts, as menus name them. */
export const FORMS = [
  ['line', 'Line'],
  ['area', 'Area'],
  ['stacked-area', 'Stacked area'],
  ['bar', 'Bars'],
  ['stacked-bar', 'Stacked bars'],
  ['pie', 'Pie'],
  ['heat-map', 'Heat map'],
  ['single', 'Single value'],
] as const;

export type ChartForm = (typeof FORMS)[number][0];
