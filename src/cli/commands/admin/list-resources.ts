/**
 * `svc admin list-resources`: the canonical names. With `--json` every file is read once to find
 * broken ones.
 */
import { compareBytes } from '../../../base/paths.ts';
import { describeAdmin, loadAdmin } from '../../administration.ts';
import type { Command } from '../../command.ts';
import { commandLog } from '../../configuration.ts';
import { plain } from '../../text-table.ts';
import { describeJson, printAnswer, wantsJson } from '../../json-output.ts';

interface ResourceLine {
  readonly resource: string;
  readonly type: string;
  readonly path: string;
  readonly problem: string | null;
}

export const listResources: Command = {
  name: 'list-resources',
  summary: 'List the published resources by the names permissions give them.',
  describe: (parser) => {
    describeAdmin(parser);
    describeJson(parser);
  },
  run: async (invocation) => {
    const config = await loadAdmin(invocation);
    const { openCatalogue } = await import('../../catalogue.ts');
    const log = commandLog(config, invocation.outside);
    const readFiles = wantsJson(invocation);
    const { resources, problems, close } = await openCatalogue(config, log, { readFiles });
    const reasons = new Map(problems.map(({ rel, reason }) => [rel, reason]));
    await close();
    const lines = resources
      .map(({ canonical, type, rel }): ResourceLine => ({
        resource: canonical,
        type,
        path: rel,
        problem: reasons.get(rel) ?? null,
      }))
      .toSorted((a, b) => compareBytes(a.resource, b.resource));
    printAnswer(invocation, lines, textOf);
    return 0;
  },
};

function textOf(lines: readonly ResourceLine[]): string {
  if (lines.length === 0) return 'No resources discovered.\n';
  return `Discovered resources:\n${lines.map(({ resource }) => `  ${plain(resource)}\n`).join('')}`;
}
