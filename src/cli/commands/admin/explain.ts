import { AppError } from '../../../base/errors.ts';
import type { Explanation } from '../../../operations/explanations.ts';
import { loadAdmin, required } from '../../administration.ts';
import type { Command } from '../../command.ts';
import { commandLog } from '../../configuration.ts';
import { plain, textTable } from '../../text-table.ts';
import { actionOf, describePermission } from './permissions.ts';
import { describeJson, printAnswer } from '../../json-output.ts';

/** Exits with 0 whatever the answer is. */
export const explain: Command = {
  name: 'explain',
  summary: 'Say why a user may or may not read or write something.',
  describe: (parser) => {
    describePermission(parser);
    parser
      .requiredOption('--username <name>', 'Name of the user (required).')
      .option('--key-id <id>', 'Ask for a request with this API key of the user.');
    describeJson(parser);
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const config = await loadAdmin(invocation);
    const question = {
      username: required(invocation, 'username'),
      resource: required(invocation, 'resource'),
      action: actionOf(invocation),
      ...(options['keyId'] !== undefined && { keyId: keyIdOf(String(options['keyId'])) }),
    };
    const { openCatalogue } = await import('../../catalogue.ts');
    const { explainAccess } = await import('../../../operations/explanations.ts');
    const { OPERATOR } = await import('../../../operations/administration.ts');
    const log = commandLog(config, outside);
    const catalogue = await openCatalogue(config, log, { readFiles: false });
    try {
      const answer = await explainAccess(catalogue.services, OPERATOR, question);
      printAnswer(invocation, answer, textOf);
    } finally {
      await catalogue.close();
    }
    return 0;
  },
};

function keyIdOf(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new AppError('usage', `--key-id: is the number of a key, not '${text}'`);
}

function textOf({ explanation, names, notes, granted_by: grants }: Explanation): string {
  const lines = [explanation, ...notes].map((line) => `${plain(line)}\n`);
  if (names.length > 1) lines.push(`Permissions can name it ${plain(names.join(' or '))}.\n`);
  if (grants.length > 0) {
    lines.push(
      textTable(
        ['group', 'permission'],
        grants.map(({ group, action, resource }) => [
          group,
          `${action} on ${resource === '' ? '<root>' : resource}`,
        ]),
      ),
    );
  }
  return lines.join('');
}
