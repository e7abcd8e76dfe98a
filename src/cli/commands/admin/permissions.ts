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
import { AppError, errnoOf } from '../../../base/errors.ts';
import { grantToGroup, revokeFromGroup } from '../../../operations/accounts/groups.ts';
import * as operations from '../../../operations/accounts/permissions.ts';
import { type AdminCall, type AdminWork, onAccounts } from '../../administration.ts';
import { checkedFlag, everything, permissionText, requireGroupNamed, verbOf } from './named.ts';
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { answerText, textTable } from '../../printer.ts';

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

/**
 * Whether nothing has that name, or it is a folder, by names on disk only. Permissions may name what does not exist yet, so
 * nothing is refused. A sentence when the name opens nothing now; null when it does or cannot be judged.
 */
function doubtAboutName(docroot: string, resource: string): string | null {
  if (resource === '' || resource === '*' || namesEvents(resource)) return null;
  try {
    return doubtAbout(docroot, resource);
  } catch (error) {
    // An unreadable folder: the permission is granted all the same.
    if (errnoOf(error) !== undefined) return null;
    throw error;
  }
}

function doubtAbout(docroot: string, resource: string): string | null {
  const isPattern = resource.endsWith('/*');
  const parts = (isPattern ? resource.slice(0, -2) : resource).split('/');
  let folder = docroot;
  for (const [at, part] of parts.entries()) {
    const found = entryNamed(folder, part);
    if (found === null) {
      return `nothing is called ${resource} now; svc admin list-resources shows the names`;
    }
    // Sheets of a workbook are not files.
    if (!isFolder(join(folder, found))) return null;
    if (at === parts.length - 1) {
      return isPattern ? null : `${resource} is a folder; ${resource}/* names what lies in it`;
    }
    folder = join(folder, found);
  }
  return null;
}

/** The entry of that name, else a file of that name without its extension. */
function entryNamed(folder: string, name: string): string | null {
  const entries = readdirSync(folder, { withFileTypes: true });
  const stemmed = entries.filter((entry) => !entry.isDirectory());
  const found =
    stemmed.find((entry) => stemOf(entry) === name) ?? entries.find((entry) => is(entry, name));
  return found?.name ?? null;
}

const is = (entry: Dirent, name: string): boolean => entry.name.normalize('NFC') === name;

function stemOf({ name }: Dirent): string {
  return name.normalize('NFC').replace(/(?<=.)\.[^.]*$/, '');
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
