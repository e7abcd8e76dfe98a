/** @jsxImportSource @kitajs/html */
import type { ApiKey } from '../../accounts/identity/api-keys.ts';
import type { Permission } from '../../accounts/rights/permissions.ts';
import type { UserView } from '../../operations/users.ts';
import { Count } from '../parts/count.tsx';
import { UtcTime } from '../parts/utc-time.tsx';
import { ADMIN_PAGES } from './layout.tsx';

/** With script shown as a distance from now. */
export function Moment(props: { at: string | null; none?: string }) {
  return <UtcTime {...props} isRelative />;
}

export function AuditLink({ query, about }: { query: Record<string, string>; about: string }) {
  return (
    <a
      class="audit"
      href={`${ADMIN_PAGES}/audit?${new URLSearchParams(query)}`}
      aria-label={`Audit of ${about}`}
    >
      Audit
    </a>
  );
}

export function UserLink({ id, username }: Pick<UserView, 'id' | 'username'>) {
  return (
    <a href={`${ADMIN_PAGES}/users/${id}`} safe>
      {username}
    </a>
  );
}

export function UserMarks({ user }: { user: Pick<UserView, 'is_active' | 'is_superuser'> }) {
  return (
    <>
      {user.is_superuser ? <span class="kind">superuser</span> : ''}{' '}
      {user.is_active ? '' : <span class="kind off">deactivated</span>}
    </>
  );
}

export interface GroupName {
  readonly id: number;
  readonly name: string;
}

export function GroupLink({ id, name, isTag = false }: GroupName & { readonly isTag?: boolean }) {
  return (
    <a class={isTag ? 'tag' : undefined} href={`${ADMIN_PAGES}/groups/${id}`} safe>
      {name}
    </a>
  );
}

/** The others are behind one link. */
const GROUPS_IN_CELL = 8;

export function GroupLinks(props: { groups: readonly GroupName[]; moreHref: string }) {
  const { groups, moreHref } = props;
  if (groups.length === 0) return <span class="none">none</span>;
  const hidden = groups.length - GROUPS_IN_CELL;
  return (
    <>
      {groups.slice(0, GROUPS_IN_CELL).map((group) => (
        <>
          <GroupLink {...group} isTag />{' '}
        </>
      ))}
      {hidden > 0 ? (
        <a href={moreHref}>
          and <Count value={hidden} /> more
        </a>
      ) : (
        ''
      )}
    </>
  );
}

export function WhoMayLink({ action, resource }: Pick<Permission, 'action' | 'resource'>) {
  const query = new URLSearchParams({ resource, right: action });
  return (
    <a
      href={`${ADMIN_PAGES}/explain?${query}`}
      aria-label={`Who may ${action} ${resourceText(resource)}?`}
    >
      Who may?
    </a>
  );
}

export function resourceText(resource: string): string {
  if (resource === '') return 'the document root (upload)';
  return resource === '*' ? '* (everything)' : resource;
}

export function keyName({ id, description }: Pick<ApiKey, 'id' | 'description'>): string {
  return description ?? `key ${id}`;
}
