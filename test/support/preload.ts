/**
 * What holds for every test file, before it is loaded: bunfig.toml names this one.
 *
 * The properties of fast-check take their cases from SEED, where it is given, as the other generated cases do.
 */
import { setDefaultTimeout } from 'bun:test';
import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { LONGEST_TEST_MS } from './patience.ts';

// For the first file only, says Bun; a run of several files names the limit itself, as build/test-groups.ts does.
setDefaultTimeout(LONGEST_TEST_MS);

const seed = process.env['SEED'];
if (seed !== undefined) configureGlobal({ ...readConfigureGlobal(), seed: Number(seed) });
