/** @jsxImportSource @kitajs/html */
/**
 * Gives a user a right on a file or folder in one step: the group that holds the right is found or made.
 */
import { ActionBox, ChooseBox, ResourceBox } from './boxes.tsx';
import { resourceText } from './cells.tsx';
import { AdminForm } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';

export interface ShareData {
  /** A file or folder as a permission names it; `''` for the document root, or when nothing is chosen yet. */
  readonly resource: string;
  readonly username: string;
  readonly usernames: readonly string[];
  readonly given: { readonly username: string; readonly group: string } | null;
}

export const sharePage = adminPage<ShareData>({
  name: 'admin-share',
  title: () => 'Give access',
  content: (data, { state, frame }) => (
    <>
      {data.given === null ? '' : <Given {...data} given={data.given} />}
      <AdminForm state={state} frame={frame} action="share">
        <ChooseBox
          name="username"
          label="User"
          names={data.usernames}
          source="users"
          value={state.entered['username'] ?? data.username}
        />
        <ResourceBox value={state.entered['resource'] ?? data.resource} />
        <ActionBox value={state.entered['right'] ?? 'read'} />
        <button type="submit">Give access</button>
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
});

function Given({ resource, given }: ShareData & { given: NonNullable<ShareData['given']> }) {
  const who = new URLSearchParams({ resource, right: 'read' });
  return (
    <p>
      <strong safe>{given.username}</strong> is in the group <strong safe>{given.group}</strong>{' '}
      now.{' '}
      <a href={`${ADMIN_PAGES}/explain?${who}`} safe>
        {`Who may read ${resourceText(resource)}?`}
      </a>
    </p>
  );
}
