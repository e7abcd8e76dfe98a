/** @jsxImportSource @kitajs/html */
/** Kinds of cells of lists. A cell that is a member of its row is sorted by the member's name. */
import { MAX_KEY_DAYS } from '../../accounts/identity/api-keys.ts';
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import type { Permission } from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import type { UserView } from '../../operations/accounts/users.ts';
import { Count, Size, UtcTime } from '../parts/values.tsx';
import { cell, sortOf } from '../parts/cells.tsx';
import { type Column, type Of, valueOf } from '../parts/table.tsx';
import { Select } from '../parts/forms.tsx';
import { Act, type Surroundings } from './page.tsx';
import { ADMIN_PAGES } from './sections.ts';

export function moment<Item>(
  label: string,
  of: Of<Item, string | null>,
  sort?: string,
): Column<Item> {
  return {
    label,
    ...sortOf(of, sort),
    cell: (item) => (
      <td>
        <Moment at={valueOf(item, of)} />
      </td>
    ),
  };
}

export function number<Item>(label: string, of: Of<Item, number>): Column<Item> {
  return {
    label,
    look: 'number',
    ...sortOf(of, undefined),
    cell: (item) => (
      <td class="number">
        <Count value={valueOf(item, of)} />
      </td>
    ),
  };
}

export function size<Item>(label: string, of: Of<Item, number>): Column<Item> {
  return {
    label,
    look: 'number',
    ...sortOf(of, undefined),
    cell: (item) => (
      <td class="nowrap number">
        <Size bytes={valueOf(item, of)} />
      </td>
    ),
  };
}

export function user<Item extends { readonly user_id: number; readonly username: string }>(
  sort?: string,
): Column<Item> {
  return cell('User', ({ user_id: id, username }) => <UserLink {...{ id, username }} />, sort);
}

export function markedUser<
  Item extends Pick<UserView, 'id' | 'username' | 'is_active' | 'is_superuser'>,
>(label: string): Column<Item> {
  const render = (one: Item): JSX.Element => (
    <>
      <UserLink {...one} /> <UserMarks user={one} />
    </>
  );
  return cell(label, render, 'username');
}

export function right<Item extends Pick<Permission, 'action'>>(sort?: string): Column<Item> {
  const render = ({ action }: Item): JSX.Element => (
    <span class="kind" safe>
      {action}
    </span>
  );
  return cell('Right', render, sort);
}

export function audit<Item>(
  of: (item: Item) => readonly [query: Readonly<Record<string, string>>, about: string],
): Column<Item> {
  return {
    label: 'Audit',
    look: 'hidden',
    cell: (item) => <td>{auditLink(...of(item))}</td>,
  };
}

export function acts<Item>(
  of: (item: Item, around: Surroundings) => readonly JSX.Element[],
): Column<Item, Surroundings> {
  return {
    label: 'What can be done',
    look: 'hidden',
    cell: (item, around) => <td class="acts">{[...of(item, around)]}</td>,
  };
}

export function act(
  around: Surroundings,
  action: string,
  label: string,
  about: string,
  fields: Readonly<Record<string, string | number>> = {},
): JSX.Element {
  return <Act {...around} {...{ action, label, about, fields }} />;
}

export function auditLink(query: Readonly<Record<string, string>>, about: string): JSX.Element {
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

/** With script shown as a distance from now. */
export function Moment(props: { at: string | null; none?: string }) {
  return <UtcTime {...props} isRelative />;
}

export function UserLink({ id, username }: Pick<UserView, 'id' | 'username'>) {
  return (
    <a href={`${ADMIN_PAGES}/users/${id}`} safe>
      {username}
    </a>
  );
}

export function UserMarks({ user: one }: { user: Pick<UserView, 'is_active' | 'is_superuser'> }) {
  return (
    <>
      {one.is_superuser && <span class="kind">superuser</span>}{' '}
      {!one.is_active && <span class="kind off">deactivated</span>}
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
      {hidden > 0 && (
        <a href={moreHref}>
          and <Count value={hidden} /> more
        </a>
      )}
    </>
  );
}

export function whoMayLink({ action, resource }: Pick<Permission, 'action' | 'resource'>) {
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

export function keyName({ id, description }: { id: number; description: string | null }): string {
  return description ?? `key ${id}`;
}

export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

type BoxProps = JSX.HtmlInputTag & { readonly label: string };

export function Box({ label, ...input }: BoxProps) {
  return (
    <label>
      <span safe>{label}</span>
      <input autocomplete="off" {...input} />
    </label>
  );
}

interface ValueProps {
  readonly value: string;
}

export function NameBox(props: ValueProps & { name: string; label: string }) {
  const limits = {
    maxlength: MAX_NAME_CHARACTERS,
    autocapitalize: 'none',
    spellcheck: 'false',
  } as const;
  return <Box {...props} {...limits} required />;
}

interface ChooseProps extends ValueProps {
  readonly name: string;
  readonly label: string;
  readonly names: readonly string[];
  readonly source: 'users' | 'groups';
}

export function ChooseBox({ name, label, names, value, source }: ChooseProps) {
  const list = `${name}-names`;
  return (
    <>
      <Box {...{ label, name, list, value }} required data-suggest={source} />
      <datalist id={list}>
        {names.map((one) => (
          <option value={one} />
        ))}
      </datalist>
    </>
  );
}

export interface ReceiverName {
  readonly name: string;
  readonly isGroup: boolean;
}

export function ReceiverBox({ names, value }: ValueProps & { names: readonly ReceiverName[] }) {
  const fixed = { name: 'to', list: 'receiver-names', spellcheck: 'false' } as const;
  return (
    <>
      <Box label="User or group" {...fixed} {...{ value }} required data-suggest="users groups" />
      <datalist id="receiver-names">
        {names.map(({ name, isGroup }) => (
          <option value={name} label={isGroup ? 'group' : undefined} />
        ))}
      </datalist>
    </>
  );
}

export function PurposeBox({ value }: ValueProps) {
  const maxlength = MAX_DESCRIPTION_CHARACTERS;
  return <Box label="What it is for" name="description" {...{ value, maxlength }} />;
}

/** Empty: the key does not expire. */
export function ExpiryBox({ value }: ValueProps) {
  const box = { name: 'expires_in_days', type: 'number', min: '1', max: MAX_KEY_DAYS } as const;
  return <Box label="Days until it expires" {...box} value={value} placeholder="never" />;
}

export function ResourceBox({ value }: ValueProps) {
  const fixed = { name: 'resource', list: 'resource-names', spellcheck: 'false' } as const;
  const placeholder = 'reports/sales or reports/*';
  return (
    <>
      <Box label="Resource" {...fixed} {...{ value, placeholder }} data-suggest="resources" />
      <datalist id="resource-names"></datalist>
    </>
  );
}

export function ActionBox({ value }: ValueProps) {
  return (
    <label>
      Right
      <Select name="right" choices={VERBS.map((verb) => [verb, verb])} chosen={value} />
    </label>
  );
}
