/**
 * `svc admin create-permissions`: read and write permissions on resources, and groups with the
 * usual combinations. Idempotent: reports what exists already.
 */
import type { AccountsApp } from '../../../app.ts';
import type { Group } from '../../../accounts/rights/groups.ts';
import type { Permission } from '../../../accounts/rights/permissions.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import { AppError } from '../../../base/errors.ts';
import { sha256Hex } from '../../../base/ids.ts';
import { suggestion } from '../../../config/nearest-name.ts';
import type { Config } from '../../../config/schema.ts';
import {
  checkedFlag,
  describeRootFlag,
  loadAdmin,
  permissionText,
  rootAndNames,
} from '../../administration.ts';
import type { Command, Invocation } from '../../command.ts';
import { commandLog, describeConfiguration } from '../../configuration.ts';

const EVERYTHING = '__all__';
/** Maximum length the operations accept. */
const MAX_GROUP_NAME = 150;

export const createPermissions: Command = {
  name: 'create-permissions',
  summary: 'Create read and write permissions on resources, and groups that hold them.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser.argument('[resources...]', `Names of resources, or ${EVERYTHING} for all there are.`);
    describeRootFlag(parser);
    parser
      .option(
        '--all-group <name>',
        'Start of the name of the group with every right.',
        'all_resources',
      )
      .option(
        '--read-group <name>',
        'Start of the name of the group that reads.',
        'read_resources',
      );
  },
  run: async (invocation) => {
    const { outside } = invocation;
    const { root, names } = rootAndNames(invocation);
    if (names.length === 0) {
      throw new AppError('usage', `create-permissions: name resources, or ${EVERYTHING} for all`);
    }
    const config = await loadAdmin({ ...invocation, positionals: root });
    const resources = await canonicalNames(config, invocation, names);
    const { openAccounts } = await import('../../../app.ts');
    const accounts = await openAccounts(config, commandLog(config, outside));
    try {
      const maker = new Maker(accounts, (line) => outside.out(`${line}\n`));
      await makeAll(maker, invocation, resources);
    } finally {
      await accounts.close();
    }
    return 0;
  },
};

async function canonicalNames(
  config: Config,
  { outside }: Invocation,
  names: readonly string[],
): Promise<string[]> {
  const { openCatalogue } = await import('../../catalogue.ts');
  const catalogue = await openCatalogue(config, commandLog(config, outside), { readFiles: false });
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

async function makeAll(
  maker: Maker,
  { options }: Invocation,
  resources: readonly string[],
): Promise<void> {
  const all = await maker.group(joinedName(String(options['allGroup']), resources));
  const readers = await maker.group(joinedName(String(options['readGroup']), resources));
  for (const resource of resources) {
    const read = await maker.permission(resource, 'read');
    const write = await maker.permission(resource, 'write');
    const readonly = await maker.group(shortName(`${resource}_readonly`));
    const readwrite = await maker.group(shortName(`${resource}_readwrite`));
    for (const group of [all, readers, readonly, readwrite]) await maker.assign(read, group);
    for (const group of [all, readwrite]) await maker.assign(write, group);
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

class Maker {
  readonly #accounts: AccountsApp;
  readonly #print: (line: string) => void;

  constructor(accounts: AccountsApp, print: (line: string) => void) {
    this.#accounts = accounts;
    this.#print = print;
  }

  async group(name: string): Promise<Group> {
    const { findGroup } = await import('../../../accounts/rights/groups.ts');
    const { createGroup } = await import('../../../operations/groups.ts');
    const { OPERATOR } = await import('../../../operations/administration.ts');
    const known = await findGroup(this.#accounts.db, name);
    if (known !== null) {
      this.#print(`Group '${known.name}' already exists`);
      return known;
    }
    const group = await checkedFlag('create-permissions', () =>
      createGroup(this.#accounts, OPERATOR, { name }),
    );
    this.#print(`Created group '${group.name}'`);
    return group;
  }

  async permission(resource: string, action: Verb): Promise<Permission> {
    const { findPermission } = await import('../../../accounts/rights/permissions.ts');
    const { createPermission } = await import('../../../operations/permissions.ts');
    const { OPERATOR } = await import('../../../operations/administration.ts');
    const known = await findPermission(this.#accounts.db, resource, action);
    if (known !== null) {
      this.#print(`Permission ${permissionText(known)} already exists`);
      return known;
    }
    const permission = await createPermission(this.#accounts, OPERATOR, { resource, action });
    this.#print(`Created permission ${permissionText(permission)}`);
    return permission;
  }

  async assign(permission: Permission, group: Group): Promise<void> {
    const { listGroupPermissions } = await import('../../../accounts/rights/permissions.ts');
    const { grantToGroup } = await import('../../../operations/groups.ts');
    const { OPERATOR } = await import('../../../operations/administration.ts');
    const text = permissionText(permission);
    const held = await listGroupPermissions(this.#accounts.db, group.id);
    if (held.some(({ id }) => id === permission.id)) {
      this.#print(`Group '${group.name}' already holds ${text}`);
      return;
    }
    await grantToGroup(this.#accounts, OPERATOR, group.id, permission.id);
    this.#print(`Assigned ${text} to group '${group.name}'`);
  }
}
