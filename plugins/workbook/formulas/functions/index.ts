/**
 * By their names in files. Each was compared with LibreOffice; what Excel, LibreOffice and the definition do not
 * agree on is left out.
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
