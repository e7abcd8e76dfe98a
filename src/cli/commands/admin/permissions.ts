import type { AccountsApp } from '../../../app.ts';
import type { Permission } from '../../../accounts/rights/permissions.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import {
  checkedFlag,
  describeAdmin,
  everything,
  loadAdmin,
  permissionText,
  required,
  requireGroupNamed,
  withAccounts,
} from '../../administration.ts';
import { AppError } from '../../../base/errors.ts';
import type { Command, Invocation } from '../../command.ts';
import { textTable } from '../../text-table.ts';
import { describeJson, printAnswer } from '../../json-output.ts';

export const listPermissions: Command = {
  name: 'list-permissions',
  summary: 'List the permissions.',
  describe: (parser) => {
    describeAdmin(parser);
    describeJson(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const permissions = await import('../../../operations/permissions.ts');
      const items = await everything<Permission>((query) =>
        permissions.listPermissions(accounts, operator, { query }),
      );
      printAnswer(invocation, items, permissionTable);
      return 0;
    }),
};

function permissionTable(permissions: readonly Permission[]): string {
  if (permissions.length === 0) return 'No permissions.\n';
  return textTable(
    ['id', 'action', 'resource', 'description'],
    permissions.map(({ id, action, resource, description }) => [
      String(id),
      action,
      resource === '' ? '<root>' : resource,
      description ?? '',
    ]),
  );
}

export const deletePermission: Command = {
  name: 'delete-permission',
  summary: 'Delete a permission everywhere.',
  describe: describePermission,
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const permissions = await import('../../../operations/permissions.ts');
      const permission = await requirePermission(accounts, invocation);
      await permissions.deletePermission(accounts, operator, permission.id);
      invocation.outside.out(`Deleted permission ${permissionText(permission)}\n`);
      return 0;
    }),
};

export const grant: Command = {
  name: 'grant',
  summary: 'Give a group a permission, which is made when there is none.',
  describe: describeGrant,
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { grantToGroup } = await import('../../../operations/groups.ts');
      const permissions = await import('../../../operations/permissions.ts');
      const group = await requireGroupNamed(accounts, required(invocation, 'group'));
      const { resource, action } = await wanted(invocation);
      const permission =
        (await findWanted(accounts, { resource, action })) ??
        (await permissions.createPermission(accounts, operator, { resource, action }));
      const text = permissionText(permission);
      const isNew = await grantToGroup(accounts, operator, group.id, permission.id);
      invocation.outside.out(
        isNew
          ? `Granted ${text} to group '${group.name}'\n`
          : `Group '${group.name}' already holds ${text}\n`,
      );
      const { docroot } = await loadAdmin(invocation);
      for (const doubt of await doubtsAbout(accounts, docroot, group.id, permission)) {
        invocation.outside.err(`Note: ${doubt}\n`);
      }
      return 0;
    }),
};

/** Warnings about a grant that may have no effect. */
async function doubtsAbout(
  { db }: AccountsApp,
  docroot: string,
  groupId: number,
  { resource, action }: Wanted,
): Promise<string[]> {
  const { doubtAboutName } = await import('../../granted-name.ts');
  const { listGroupPermissions } = await import('../../../accounts/rights/permissions.ts');
  const { matchesDocument, namesEvents } =
    await import('../../../accounts/rights/resource-names.ts');
  const about = doubtAboutName(docroot, resource);
  const doubts = about === null ? [] : [about];
  // Log shippers and uploaders write without reading.
  if (action === 'read' || resource === '' || namesEvents(resource)) return doubts;
  const held = await listGroupPermissions(db, groupId);
  const isRead = held.some(
    (other) => other.action === 'read' && matchesDocument(other.resource, resource, false),
  );
  return isRead
    ? doubts
    : [...doubts, 'write does not include read; grant read as well to those who should see it'];
}

export const revoke: Command = {
  name: 'revoke',
  summary: 'Take a permission from a group.',
  describe: describeGrant,
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { revokeFromGroup } = await import('../../../operations/groups.ts');
      const group = await requireGroupNamed(accounts, required(invocation, 'group'));
      const permission = await requirePermission(accounts, invocation);
      await revokeFromGroup(accounts, operator, group.id, permission.id);
      invocation.outside.out(`Revoked ${permissionText(permission)} from group '${group.name}'\n`);
      return 0;
    }),
};

interface Wanted {
  readonly resource: string;
  readonly action: Verb;
}

async function wanted(invocation: Invocation): Promise<Wanted> {
  const { checkResource } = await import('../../../accounts/rights/resource-names.ts');
  const resource = await checkedFlag('--resource', () =>
    checkResource(required(invocation, 'resource')),
  );
  return { resource, action: actionOf(invocation) };
}

export function actionOf(invocation: Invocation): Verb {
  const action = required(invocation, 'action');
  if (action === 'read' || action === 'write') return action;
  throw new AppError('usage', `--action: is read or write, not '${action}'`);
}

async function findWanted({ db }: AccountsApp, { resource, action }: Wanted) {
  const { findPermission } = await import('../../../accounts/rights/permissions.ts');
  return findPermission(db, resource, action);
}

async function requirePermission(
  accounts: AccountsApp,
  invocation: Invocation,
): Promise<Permission> {
  const { normalResource } = await import('../../../accounts/rights/resource-names.ts');
  // Older versions may have stored names that are refused now; they must stay revocable.
  const resource = normalResource(required(invocation, 'resource'));
  const permission = await findWanted(accounts, { resource, action: actionOf(invocation) });
  if (permission !== null) return permission;
  const asked = await wanted(invocation);
  throw new AppError('not-found', `No permission ${permissionText(asked)}; see list-permissions`);
}

export function describePermission(parser: Parameters<Command['describe']>[0]): void {
  describeAdmin(parser);
  parser
    .requiredOption(
      '--resource <name>',
      'A resource, a pattern such as reports/*, * for all, or __root__ for uploads (required).',
    )
    .requiredOption('--action <verb>', 'read or write (required).');
}

function describeGrant(parser: Parameters<Command['describe']>[0]): void {
  describePermission(parser);
  parser.requiredOption('--group <name>', 'Name of the group (required).');
}
