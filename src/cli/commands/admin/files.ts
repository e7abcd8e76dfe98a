import { compareBytes } from '../../../base/paths.ts';
import { OPERATOR } from '../../../operations/administration.ts';
import {
  explainAccess,
  type Explanation,
} from '../../../operations/accounts/access-explanations.ts';
import { loadAdmin } from '../../administration.ts';
import { type Catalogue, openCatalogue } from '../../catalogue.ts';
import type { Invocation } from '../../command.ts';
import { commandLog } from '../../configuration.ts';
import { keyNumber, permissionText, verbOf } from './named.ts';
import { answerText, wantsJson, plain, textTable } from '../../printer.ts';

/** The canonical names. With `--json` every file is read once to find broken ones. */
async function listResources(invocation: Invocation): Promise<string> {
  const found = await withCatalogue(invocation, wantsJson(invocation), async (all) => all);
  const reasons = new Map(found.problems.map(({ rel, reason }) => [rel, reason]));
  const lines = found.resources
    .map(({ canonical, type, rel }) => ({
      resource: canonical,
      type,
      path: rel,
      problem: reasons.get(rel) ?? null,
    }))
    .toSorted((a, b) => compareBytes(a.resource, b.resource));
  const names = lines.map(({ resource }) => `  ${plain(resource)}\n`).join('');
  return answerText(invocation, lines, () =>
    names === '' ? 'No resources discovered.\n' : `Discovered resources:\n${names}`,
  );
}

/** Exits with 0 whatever the answer is. */
async function explain(invocation: Invocation): Promise<string> {
  const { username, resource, action, keyId } = invocation.options;
  const question = {
    username: String(username),
    resource: String(resource),
    action: verbOf(String(action)),
    ...(keyId !== undefined && { keyId: keyNumber('--key-id', String(keyId)) }),
  };
  const answer = await withCatalogue(invocation, false, ({ services }) =>
    explainAccess(services, OPERATOR, question),
  );
  return answerText(invocation, answer, textOf);
}

async function withCatalogue<T>(
  invocation: Invocation,
  readFiles: boolean,
  work: (catalogue: Catalogue) => Promise<T>,
): Promise<T> {
  const config = await loadAdmin(invocation);
  const log = commandLog(config, invocation.outside);
  const catalogue = await openCatalogue(config, log, { readFiles });
  try {
    return await work(catalogue);
  } finally {
    await catalogue.close();
  }
}

function textOf({ explanation, names, notes, granted_by: grants }: Explanation): string {
  const lines = [explanation, ...notes].map((line) => `${plain(line)}\n`);
  if (names.length > 1) lines.push(`Permissions can name it ${plain(names.join(' or '))}.\n`);
  if (grants.length > 0) {
    const rows = grants.map((grant) => [grant.group, permissionText(grant)]);
    lines.push(textTable(['group', 'permission'], rows));
  }
  return lines.join('');
}

export const files = {
  'list-resources': listResources,
  explain,
};
