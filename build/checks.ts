/**
 * The checks of the source that run nothing of it: types and format.
 */
import { bun } from './step.ts';

const FORMATTED = ['**/*.ts', '**/*.tsx', '**/*.css'];

/** Name and command of each check. */
export const checks: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['type check', [bun, 'check', '--no-pretty', '--all']],
  [
    "type check of the pages' scripts",
    [bun, 'check', '--no-pretty', '--all', '-p', 'src/browser/tsconfig.json'],
  ],
  ['format check', [bun, 'fmt', '--check', ...FORMATTED]],
];
