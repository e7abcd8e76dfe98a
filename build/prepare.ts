/**
 * What benchmarks and fault recipes need, also in a fresh clone: the packages, and an executable of the present sources unless
 * `SVC_BINARY` names another. An executable that lay there from another day would be measured without a word.
 */
import { build } from './build.ts';
import { bun, step } from './step.ts';

if ((await step([bun, 'install', '--frozen-lockfile'])) !== 0) process.exit(1);
if (process.env['SVC_BINARY'] === undefined) await build();
