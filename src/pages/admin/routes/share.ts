import { MAX_NAME_CHARACTERS } from '../../../accounts/identity/names.ts';
import { AppError } from '../../../base/errors.ts';
import {
  addMember,
  createGroup,
  findGroupByName,
  grantToGroup,
  listPermissionsOfGroup,
} from '../../../operations/groups.ts';
import { ensurePermission } from '../../../operations/permissions.ts';
import { findUserByName, usernames } from '../../../operations/users.ts';
import { type ShareData, sharePage } from '../share.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute, type Deed } from './admin-page.ts';
import { boxValue } from './page-list.ts';

/** Names tried (`name (2)`, `name (3)`, …) when groups of that name hold other rights. */
const MAX_NAMESAKES = 20;

export const shareRoute: Route = adminPageRoute<ShareData>({
  path: 'share',
  summary: 'Give somebody access',
  page: sharePage,
  read: async (context, admin) => ({
    resource: boxValue(context, 'resource'),
    username: boxValue(context, 'username'),
    usernames: await usernames(context.services, admin),
    given: null,
  }),
  actions: {
    share: {
      done: 'The right is given.',
      run: async (deed) => {
        const { services, admin, field } = deed;
        const resource = field('resource');
        // Checked before anything is made.
        const user = await findUserByName(services, admin, field('username'));
        const asked = { resource, action: field('right') };
        const permission = await ensurePermission(services, admin, asked);
        const group = await groupHolding(deed, permission);
        await addMember(services, admin, group.id, user.id);
        return { resource, username: '', given: { username: user.username, group: group.name } };
      },
    },
  },
});

/** The group that holds exactly this right, made if there is none, so that nobody gets more than was asked for. */
async function groupHolding(
  { services, admin }: Deed,
  permission: { readonly id: number; readonly action: string; readonly resource: string },
): Promise<{ readonly id: number; readonly name: string }> {
  const { action, resource } = permission;
  const whole = `${action} ${resource === '' ? 'document root' : resource}`;
  for (let attempt = 1; attempt <= MAX_NAMESAKES; attempt++) {
    const end = attempt === 1 ? '' : ` (${attempt})`;
    const name = whole.slice(0, MAX_NAME_CHARACTERS - end.length) + end;
    const known = await findGroupByName(services, admin, name).catch(notFound);
    if (known === null) {
      const group = await createGroup(services, admin, { name });
      await grantToGroup(services, admin, group.id, permission.id);
      return group;
    }
    const held = await listPermissionsOfGroup(services, admin, known.id);
    if (held.length === 1 && held[0]!.id === permission.id) return known;
  }
  throw new AppError('bad-request', `Too many groups are called ${whole}; use one of them`);
}

function notFound(error: unknown): null {
  if (error instanceof AppError && error.code === 'not-found') return null;
  throw error;
}
