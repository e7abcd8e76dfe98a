/** From a point of a chart to the events that it counts. */
import type { ChartPoint } from '../shared/chart/options.ts';
import { ask, fieldTerm } from './terms.ts';
import { chooseSpan } from './times.ts';

/** The field by which the last stage splits its rows, when it is one alone. */
const SPLIT = /\bby\s+([A-Za-z_@][\w@.:/$-]*)\s*$/i;

export function drillInto(form: HTMLFormElement, terms: string, point: ChartPoint): void {
  const { column, place, until, series } = point;
  // Other rows than of events have none behind them.
  if (terms === '') return;
  const asked = form.querySelector('textarea')!.defaultValue;
  const field = until === null ? column : SPLIT.exec(asked)?.[1];
  const value = until === null ? place : series;
  const isKnown = field !== undefined && field !== '' && value !== 'others' && value !== 'NULL';
  const added = isKnown ? [fieldTerm(field, value)] : [];
  if (until !== null) chooseSpan(new Date(place), new Date(until));
  ask(form, [...(terms === '*' ? [] : [terms]), ...added].join(' '));
}
