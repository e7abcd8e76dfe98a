/**
 * Functions of formulas by their names in files. Each was compared with LibreOffice, case by case; what Excel,
 * LibreOffice and the definition do not agree on is left out or left to them.
 */
import type { Functions } from '../call.ts';
import { aggregates } from './aggregates.ts';
import { dates } from './dates.ts';
import { libraryFunctions } from './library.ts';
import { logic } from './logic.ts';
import { lookups } from './lookups.ts';
import { texts } from './texts.ts';

export const functions: Functions = {
  ...libraryFunctions,
  ...aggregates,
  ...dates,
  ...logic,
  ...lookups,
  ...texts,
};
