import {
  findPermission,
  listGroupPermissions,
  type Permission,
} from '../../../accounts/rights/permissions.ts';
import {
  checkResource,
  matchesDocument,
  namesEvents,
  normalResource,
} from '../../../accounts/rights/resource-names.ts';
import { AppError } from '../../../base/errors.ts';
import { grantToGroup, revokeFromGroup } from '../../../operations/accounts/groups.ts';
import * as operations from '../../../operations/accounts/permissions.ts';
import { type AdminCall, type AdminWork, onAccounts } from '../../administration.ts';
import { doubtAboutName } from '../../granted-name.ts';
import { answerText } from '../../json-output.ts';
import { textTable } from '../../text-table.ts';
import { checkedFlag, everything, permissionText, requireGroupNamed, verbOf } from './named.ts';

const listPermissions: AdminWork = async ({ accounts, operator, invocation }) => {
  const items = await everything<Permission>((query) =>
    operations.listPermissions(accounts, operator, { query }),
  );
  return answerText(invocation, items, permissionTable);
};

function permissionTable(items: readonly Permission[]): string {
  if (items.length === 0) return 'No permissions.\n';
  return textTable(
    ['id', 'action', 'resource', 'description'],
    items.map(({ id, action, resource, description }) => [
      String(id),
      action,
      resource === '' ? '<root>' : resource,
      description ?? '',
    ]),
  );
}

const deletePermission: AdminWork = async (call) => {
  const permission = await requirePermission(call);
  await operations.deletePermission(call.accounts, call.operator, permission.id);
  return `Deleted permission ${permissionText(permission)}\n`;
};

const grant: AdminWork = async (call) => {
  const { accounts, operator, invocation } = call;
  const group = await requireGroupNamed(accounts, call.text('group'));
  const { resource, action } = await wanted(call);
  const permission =
    (await findPermission(accounts.db, resource, action)) ??
    (await operations.createPermission(accounts, operator, { resource, action }));
  const text = permissionText(permission);
  const isNew = await grantToGroup(accounts, operator, group.id, permission.id);
  for (const doubt of await doubtsAbout(call, group.id, permission)) {
    invocation.outside.err(`Note: ${doubt}\n`);
  }
  return isNew
    ? `Granted ${text} to group '${group.name}'\n`
    : `Group '${group.name}' already holds ${text}\n`;
};

/** Warnings about a grant that may have no effect. */
async function doubtsAbout(
  { config, accounts }: AdminCall,
  groupId: number,
  { resource, action }: Permission,
): Promise<string[]> {
  const about = doubtAboutName(config.docroot, resource);
  const doubts = about === null ? [] : [about];
  // Log shippers and uploaders write without reading.
  if (action === 'read' || resource === '' || namesEvents(resource)) return doubts;
  const held = await listGroupPermissions(accounts.db, groupId);
  const isRead = held.some(
    (other) => other.action === 'read' && matchesDocument(other.resource, resource, false),
  );
  return isRead
    ? doubts
    : [...doubts, 'write does not include read; grant read as well to those who should see it'];
}

const revoke: AdminWork = async (call) => {
  const group = await requireGroupNamed(call.accounts, call.text('group'));
  const permission = await requirePermission(call);
  await revokeFromGroup(call.accounts, call.operator, group.id, permission.id);
  return `Revoked ${permissionText(permission)} from group '${group.name}'\n`;
};

async function wanted({ text }: AdminCall) {
  const resource = await checkedFlag('--resource', () => checkResource(text('resource')));
  return { resource, action: verbOf(text('action')) };
}

async function requirePermission(call: AdminCall): Promise<Permission> {
  // Older versions may have stored names that are refused now; they must stay revocable.
  const resource = normalResource(call.text('resource'));
  const action = verbOf(call.text('action'));
  const permission = await findPermission(call.accounts.db, resource, action);
  if (permission !== null) return permission;
  const asked = permissionText(await wanted(call));
  throw new AppError('not-found', `No permission ${asked}; see list-permissions`);
}

export const permissions = onAccounts({
  'list-permissions': listPermissions,
  'delete-permission': deletePermission,
  grant,
  revoke,
});
