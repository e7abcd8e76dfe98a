/** Also printed by `svc --version`. */
import { version as build } from '../../base/version.ts';
import type { Command } from '../command.ts';

export const versionLine = `svc ${build}`;

export const version: Command = {
  name: 'version',
  summary: 'Print the version of this build.',
  describe: () => undefined,
  run: async ({ outside }) => {
    outside.out(`${versionLine}\n`);
    return 0;
  },
};
