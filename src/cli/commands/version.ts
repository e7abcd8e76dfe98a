/** `svc version`: which build this is. */
import { version as build } from '../../base/version.ts';
import type { Command } from '../command.ts';

/** The line `svc version` and `svc --version` print. */
export const versionLine = `svc ${build}`;

/** Prints the build. */
export const version: Command = {
  name: 'version',
  summary: 'Print the version of this build.',
  describe: () => undefined,
  run: async ({ outside }) => {
    outside.out(`${versionLine}\n`);
    return 0;
  },
};
