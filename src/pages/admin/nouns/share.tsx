/** @jsxImportSource @kitajs/html */
/** The group that holds the right is found or made. */
import { MAX_NAME_CHARACTERS } from '../../../accounts/identity/names.ts';
import { AppError } from '../../../base/errors.ts';
import {
  addMember,
  createGroup,
  findGroupByName,
  grantToGroup,
  listPermissionsOfGroup,
} from '../../../operations/accounts/groups.ts';
import { ensurePermission } from '../../../operations/accounts/permissions.ts';
import { findUserByName, usernames } from '../../../operations/accounts/users.ts';
import { ActionBox, ChooseBox, ResourceBox, resourceText } from '../cells.tsx';
import { boxValue } from '../list.tsx';
import { AdminForm, adminPage, type Submission } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

/** Names tried (`name (2)`, `name (3)`, …) when groups of that name hold other rights. */
const MAX_NAMESAKES = 20;

interface ShareData {
  /** As a permission names it; `''` for the document root, or when nothing is chosen. */
  readonly resource: string;
  readonly username: string;
  readonly usernames: readonly string[];
  readonly given: { readonly username: string; readonly group: string } | null;
}

export const share = adminPage<ShareData>({
  path: 'share',
  summary: 'Give somebody access',
  title: 'Give access',
  read: async (context, admin) => ({
    resource: boxValue(context, 'resource'),
    username: boxValue(context, 'username'),
    usernames: await usernames(context.services, admin),
    given: null,
  }),
  content: ({ resource, username, usernames: names, given }, around) => (
    <>
      {given !== null && (
        <p>
          <strong safe>{given.username}</strong> is in the group <strong safe>{given.group}</strong>{' '}
          now.{' '}
          <a
            href={`${ADMIN_PAGES}/explain?${new URLSearchParams({ resource, right: 'read' })}`}
            safe
          >
            {`Who may read ${resourceText(resource)}?`}
          </a>
        </p>
      )}
      <AdminForm {...around} action="share" button="Give access">
        <ChooseBox
          name="username"
          label="User"
          names={names}
          source="users"
          value={around.state.entered['username'] ?? username}
        />
        <ResourceBox value={around.state.entered['resource'] ?? resource} />
        <ActionBox value={around.state.entered['right'] ?? 'read'} />
      </AdminForm>
      <p class="fine">
        A file is named as in its address, a folder and all in it as <code>reports/*</code>,
        everything as <code>*</code>. <em>write</em> does not include <em>read</em>.
      </p>
      <p>
        Somebody new? <a href={`${ADMIN_PAGES}/users?new=1`}>Make an account first</a>. For more
        people or more rights at once, <a href={`${ADMIN_PAGES}/groups`}>make a group</a>.
      </p>
    </>
  ),
  actions: {
    share: {
      done: 'The right is given.',
      run: async (sent) => {
        const { services, admin, field } = sent;
        const resource = field('resource');
        // Checked before anything is made.
        const user = await findUserByName(services, admin, field('username'));
        const asked = { resource, action: field('right') };
        const permission = await ensurePermission(services, admin, asked);
        const group = await groupHolding(sent, permission);
        await addMember(services, admin, group.id, user.id);
        return { resource, username: '', given: { username: user.username, group: group.name } };
      },
    },
  },
});

/** Made if there is none, so nobody gets more than was asked for. */
async function groupHolding(
  { services, admin }: Submission,
  permission: { readonly id: number; readonly action: string; readonly resource: string },
): Promise<{ readonly id: number; readonly name: string }> {
  const { action, resource } = permission;
  const whole = `${action} ${resource === '' ? 'document root' : resource}`;
  for (let attempt = 1; attempt <= MAX_NAMESAKES; attempt++) {
    const end = attempt === 1 ? '' : ` (${attempt})`;
    const name = whole.slice(0, MAX_NAME_CHARACTERS - end.length) + end;
    const known = await findGroupByName(services, admin, name).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not-found') return null;
      throw error;
    });
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
