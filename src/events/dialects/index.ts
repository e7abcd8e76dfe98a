/**
 * Every way to write events, by its name. A new dialect is a file beside this and one more line.
 */
import type { Dialect } from '../intake.ts';
import { rest } from './rest.ts';

/** In no particular order. */
export const dialects: readonly Dialect[] = [rest];
