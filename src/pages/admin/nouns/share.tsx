/** @jsxImportSource @kitajs/html */
import {
  giveAccess,
  type GivenAccess,
  receiverNames,
} from '../../../operations/accounts/sharing.ts';
import { ActionBox, ReceiverBox, type ReceiverName, ResourceBox, resourceText } from '../cells.tsx';
import { boxValue } from '../list.tsx';
import { AdminForm, adminPage } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

interface ShareData {
  /** As a permission names it; `''` for the document root, or when nothing is chosen. */
  readonly resource: string;
  readonly to: string;
  readonly names: readonly ReceiverName[];
  readonly given: GivenAccess | null;
}

export const share = adminPage<ShareData>({
  path: 'share',
  summary: 'Give somebody access',
  title: 'Give access',
  read: async (context, admin) => ({
    resource: boxValue(context, 'resource'),
    to: boxValue(context, 'to'),
    names: await receiverNames(context.services, admin),
    given: null,
  }),
  content: ({ resource, to, names, given }, around) => (
    <>
      {given !== null && (
        <p>
          <span safe>{givenText(given)}</span>{' '}
          <a
            href={`${ADMIN_PAGES}/explain?${new URLSearchParams({ resource, right: 'read' })}`}
            safe
          >
            {`Who may read ${resourceText(resource)}?`}
          </a>
        </p>
      )}
      <AdminForm {...around} action="share" button="Give access">
        <ReceiverBox names={names} value={around.state.entered['to'] ?? to} />
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
      run: async ({ services, admin, field }) => {
        const [to, resource, action] = [field('to'), field('resource'), field('right')];
        const given = await giveAccess(services, admin, { to, resource, action });
        return { resource, to: '', given };
      },
    },
  },
});

function givenText({ username, group }: GivenAccess): string {
  return username === null
    ? `The group ${group.name} has the right now.`
    : `${username} is in the group ${group.name} now.`;
}
