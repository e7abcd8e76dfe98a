/** Read and write permissions on resources, and groups with the usual combinations. Reports what exists already. */
import { findGroup, type Group } from '../../../accounts/rights/groups.ts';
import {
  findPermission,
  listGroupPermissions,
  type Permission,
} from '../../../accounts/rights/permissions.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import { AppError } from '../../../base/errors.ts';
import { sha256Hex } from '../../../base/ids.ts';
import { suggestion } from '../../../config/nearest-name.ts';
import { createGroup, grantToGroup } from '../../../operations/accounts/groups.ts';
import { createPermission } from '../../../operations/accounts/permissions.ts';
import { type AdminCall, loadAdmin, rootAndNames, withAccounts } from '../../administration.ts';
import { openCatalogue } from '../../catalogue.ts';
import type { Invocation } from '../../command.ts';
import { commandLog } from '../../configuration.ts';
import { checkedFlag, permissionText } from './named.ts';

const EVERYTHING = '__all__';
/** Maximum length the operations accept. */
const MAX_GROUP_NAME = 150;

async function createPermissions(invocation: Invocation): Promise<string> {
  const { root, names } = rootAndNames(invocation);
  if (names.length === 0) {
    throw new AppError('usage', `create-permissions: name resources, or ${EVERYTHING} for all`);
  }
  const rooted = { ...invocation, positionals: root };
  const resources = await canonicalNames(rooted, names);
  return withAccounts(rooted, async (call) => {
    await makeAll(call, resources);
    return '';
  });
}

async function canonicalNames(
  invocation: Invocation,
  names: readonly string[],
): Promise<readonly string[]> {
  const config = await loadAdmin(invocation);
  const log = commandLog(config, invocation.outside);
  const catalogue = await openCatalogue(config, log, { readFiles: false });
  const { resources } = catalogue;
  await catalogue.close();
  const all = [...new Set(resources.map(({ canonical }) => canonical))];
  if (names.includes(EVERYTHING)) {
    if (all.length === 0) throw new AppError('not-found', 'No resources discovered.');
    return all;
  }
  return [
    ...new Set(
      names.map((name) => {
        const found = resources.find(
          ({ canonical, extensionForm }) => name === canonical || name === extensionForm,
        );
        if (found !== undefined) return found.canonical;
        throw new AppError('not-found', `Resource '${name}' not found${suggestion(name, all)}`);
      }),
    ),
  ];
}

async function makeAll(call: AdminCall, resources: readonly string[]): Promise<void> {
  const { allGroup, readGroup } = call.invocation.options;
  const all = await group(call, joinedName(String(allGroup), resources));
  const readers = await group(call, joinedName(String(readGroup), resources));
  for (const resource of resources) {
    const read = await permission(call, resource, 'read');
    const write = await permission(call, resource, 'write');
    const readonly = await group(call, shortName(`${resource}_readonly`));
    const readwrite = await group(call, shortName(`${resource}_readwrite`));
    for (const one of [all, readers, readonly, readwrite]) await assign(call, read, one);
    for (const one of [all, readwrite]) await assign(call, write, one);
  }
}

function joinedName(start: string, resources: readonly string[]): string {
  return shortName(`${start}_${resources.join('_')}`);
}

/** Too long names end in a digest of the whole, so that a second run finds them. */
function shortName(name: string): string {
  const characters = [...name];
  if (characters.length <= MAX_GROUP_NAME) return name;
  const digest = sha256Hex(name).slice(0, 12);
  return `${characters.slice(0, MAX_GROUP_NAME - 13).join('')}_${digest}`;
}

async function group(call: AdminCall, name: string): Promise<Group> {
  const { accounts, operator } = call;
  const known = await findGroup(accounts.db, name);
  const made =
    known ??
    (await checkedFlag('create-permissions', () => createGroup(accounts, operator, { name })));
  print(call, known ? `Group '${known.name}' already exists` : `Created group '${made.name}'`);
  return made;
}

async function permission(call: AdminCall, resource: string, action: Verb): Promise<Permission> {
  const { accounts, operator } = call;
  const known = await findPermission(accounts.db, resource, action);
  const made = known ?? (await createPermission(accounts, operator, { resource, action }));
  const text = permissionText(made);
  print(call, known ? `Permission ${text} already exists` : `Created permission ${text}`);
  return made;
}

async function assign(call: AdminCall, { id, ...granted }: Permission, to: Group): Promise<void> {
  const { accounts, operator } = call;
  const text = permissionText(granted);
  const held = await listGroupPermissions(accounts.db, to.id);
  if (held.some((one) => one.id === id)) {
    print(call, `Group '${to.name}' already holds ${text}`);
    return;
  }
  await grantToGroup(accounts, operator, to.id, id);
  print(call, `Assigned ${text} to group '${to.name}'`);
}

function print({ invocation }: AdminCall, line: string): void {
  invocation.outside.out(`${line}\n`);
}

export const creation = {
  'create-permissions': createPermissions,
};
