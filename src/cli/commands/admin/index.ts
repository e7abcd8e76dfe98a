import type { Command } from '../../command.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { createPermissions } from './create-permissions.ts';
import { explain } from './explain.ts';
import { addToGroup, createGroup, deleteGroup, listGroups, removeFromGroup } from './groups.ts';
import { deletePermission, grant, listPermissions, revoke } from './permissions.ts';
import { listResources } from './list-resources.ts';
import {
  activateUser,
  changePassword,
  createUser,
  deactivateUser,
  deleteUser,
  listUsers,
} from './users.ts';

export const admin: Command = {
  name: 'admin',
  summary: 'Administer users, groups and rights.',
  describe: (parser) => {
    parser.addHelpText(
      'after',
      '\nEvery command takes [root] or --root <path>, --config <file> and --state-dir <path>, and\n' +
        'works while a server runs: what it changes takes effect at once.',
    );
  },
  commands: [
    listUsers,
    createUser,
    deleteUser,
    changePassword,
    activateUser,
    deactivateUser,
    listGroups,
    createGroup,
    deleteGroup,
    addToGroup,
    removeFromGroup,
    listPermissions,
    createPermissions,
    deletePermission,
    grant,
    revoke,
    explain,
    listApiKeys,
    createApiKey,
    revokeApiKey,
    listResources,
  ],
  run: async () => 2,
};
