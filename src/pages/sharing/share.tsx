/** @jsxImportSource @kitajs/html */
/** Who may have one resource or folder, why, and whom to give it: people, groups, and links for everybody else. */
import { Elysia } from 'elysia';
import { VERBS, type Verb } from '../../accounts/rights/principal.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import { AppError } from '../../base/errors.ts';
import { withUrl } from '../../api/accounts/links.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { type AllowedUsers, listAllowed } from '../../operations/accounts/access-explanations.ts';
import {
  createLink,
  DEFAULT_DAYS,
  folderOf,
  isFolder,
  isLinkable,
  type LinkView,
  listLinks,
  mayShare,
  revokeLink,
} from '../../operations/accounts/links.ts';
import { giveAccess, receiverNames, takeAccess } from '../../operations/accounts/sharing.ts';
import { mayUpload } from '../../operations/files/uploads.ts';
import { administratorOf } from '../../operations/administration.ts';
import { SHARE_PAGE } from './share-address.ts';
import { type ReceiverName, resourceText } from '../admin/cells.tsx';
import { ADMIN_PAGES } from '../admin/sections.ts';
import { idOf, problemText } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { parseFilter } from '../grid/conditions.ts';
import { describeMember } from '../grid/filter-words.ts';
import { splitNames } from '../../tables/read/name-list.ts';
import { pageReply } from '../page-reply.ts';
import { PostButton, PostForm, Select } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { Count, UtcTime } from '../parts/values.tsx';
import { GiveForm } from './give-form.tsx';

const checks = { access: 'user', refusesScopedKeys: true } as const;
const shown = { description: 'A page for people', mediaType: 'text/html', schema: null };

export const shareRoute = new Elysia({ name: 'share' })
  .use(lifecycle)
  .get(SHARE_PAGE, ({ ask }) => show(ask, {}), {
    checks,
    describes: { summary: 'Show who has something', tag: 'auth', answers: { 200: shown } },
  })
  .post(SHARE_PAGE, ({ ask }) => take(ask), {
    checks,
    describes: {
      summary: 'Take a form: share something',
      tag: 'auth',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: { 200: shown, 303: { description: 'Done; back to the page', schema: null } },
      errors: [400, 403, 404, 422],
    },
  });

const VIEW_MEMBERS = ['filter', 'sort', 'columns', 'q'] as const;
type ViewTexts = Readonly<Record<(typeof VIEW_MEMBERS)[number], string>>;

interface Holder {
  readonly groupId: number;
  readonly group: string;
  readonly people: readonly string[];
  readonly action: Verb;
  readonly resource: string;
  /** For just this, so that it can be taken back without taking more. */
  readonly isOwn: boolean;
}

interface ShareView {
  readonly resource: string;
  /** Null for those who give no rights. */
  readonly access: {
    /** False in read-only mode. */
    readonly mayChange: boolean;
    readonly holders: readonly Holder[];
    readonly superusers: readonly string[];
    readonly names: readonly ReceiverName[];
    readonly notes: readonly string[];
  } | null;
  /** Null: the caller makes no links. */
  readonly links: readonly LinkView[] | null;
  /** Links for uploads can be made too. */
  readonly takesUploads: boolean;
  readonly needsPassword: boolean;
  readonly days: { readonly first: string; readonly usual: string; readonly last: string };
  readonly view: ViewTexts;
  readonly now: string;
  readonly created: string | null;
  readonly problem: string | null;
  readonly notice: string | null;
  readonly entered: ReadonlyMap<string, string>;
}

interface Outcome {
  readonly error?: AppError;
  readonly created?: string;
  readonly entered?: ReadonlyMap<string, string>;
}

const DONE: Readonly<Record<string, string>> = {
  give: 'The right is given.',
  take: 'The right is taken back.',
  'revoke-link': 'The link opens nothing any more.',
};

async function show(context: Context, { error, created, entered }: Outcome): Promise<Reply> {
  const { services, user, origin } = context;
  const resource = (context.queryValue('resource') ?? '').trim();
  const isAdmin = user.isSuperuser;
  const admin = isAdmin ? administratorOf(user, origin) : null;
  const allowed =
    admin === null || resource === ''
      ? null
      : await Promise.all(
          VERBS.map((action) => listAllowed(services, admin, { resource, action })),
        );
  const { max_days: maxDays, requires_password: needsPassword } = services.config.sharing;
  const now = services.clock.now();
  const dayIn = (days: number): string =>
    new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  const named = services.registry
    .list()
    .find(({ canonical, extensionForm }) => [canonical, extensionForm].includes(resource));
  const isLinked =
    resource !== '' && mayShare(services, user) && (named === undefined || isLinkable(named));
  // Links name files with their extension, however the page was asked for.
  const links = isLinked ? await listLinks(services, user, named?.extensionForm ?? resource) : null;
  const view: ShareView = {
    resource,
    access:
      admin === null || allowed === null
        ? null
        : {
            mayChange: !services.config.readonly,
            holders: holdersIn(allowed),
            superusers: allowed[0]!.superusers.map(({ username }) => username),
            names: await receiverNames(services, admin),
            notes: [...new Set(allowed.flatMap(({ notes }) => notes))],
          },
    links,
    takesUploads:
      links !== null && isFolder(resource) && (await mayUpload(services, user, folderOf(resource))),
    needsPassword,
    days: { first: dayIn(0), usual: dayIn(Math.min(DEFAULT_DAYS, maxDays)), last: dayIn(maxDays) },
    view: Object.fromEntries(
      VIEW_MEMBERS.map((name) => [name, context.queryValue(name) ?? '']),
    ) as ViewTexts,
    now: new Date(now).toISOString(),
    created: created ?? null,
    problem: error === undefined ? null : problemText(error),
    notice: error === undefined ? (DONE[context.queryValue('done') ?? ''] ?? null) : null,
    entered: entered ?? new Map(),
  };
  return pageReply(context, sharePage, view, error ?? {});
}

function holdersIn(allowed: readonly AllowedUsers[]): Holder[] {
  return allowed.flatMap(({ groups, users, names }) =>
    groups.map(({ group_id: groupId, group, action, resource }) => ({
      groupId,
      group,
      action,
      resource,
      people: users.flatMap(({ username, granted_by: grants }) =>
        grants.some((grant) => grant.group_id === groupId && grant.resource === resource)
          ? [username]
          : [],
      ),
      isOwn: names.includes(resource),
    })),
  );
}

async function take(context: Context): Promise<Reply> {
  const fields = (await context.form()) ?? new Map<string, string>();
  const field = (name: string): string => fields.get(name) ?? '';
  const resource = context.queryValue('resource') ?? '';
  const { services, user, origin } = context;
  try {
    const does = field('action');
    if (does === 'link') {
      const link = await createLink(services, user, origin, linkRequest(resource, field));
      return await show(context, { created: withUrl(link, context).url });
    }
    if (does === 'revoke-link') await revokeLink(services, user, origin, idOf(field('id')));
    else if (does === 'give') {
      const asked = { to: field('to'), resource, action: field('right') };
      await giveAccess(services, administratorOf(user, origin), asked);
    } else if (does === 'take') {
      const action = field('right') === 'write' ? 'write' : 'read';
      const held = { groupId: idOf(field('group')), resource: field('held'), action } as const;
      await takeAccess(services, administratorOf(user, origin), held);
    } else throw new AppError('bad-request', 'The form names no action');
    const query = new URLSearchParams({ resource, done: does });
    return redirectReply(`${SHARE_PAGE}?${query}`, 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    return show(context, { error, entered: fields });
  }
}

function linkRequest(resource: string, field: (name: string) => string): object {
  const texts = [...VIEW_MEMBERS, 'kind', 'password', 'description', 'expires_at'] as const;
  const given = texts.map((name) => [name, field(name)]).filter(([, text]) => text !== '');
  return { resource, ...(Object.fromEntries(given) as object) };
}

export const sharePage: Page<ShareView> = {
  name: 'share',
  layout: 'wide',
  title: ({ resource }) => (resource === '' ? 'Share' : `Share ${resourceText(resource)}`),
  styles: ['admin.css', 'sharing.css'],
  scripts: ['admin.js'],
  trail: () => [{ label: 'Resources', href: '/' }],
  content: (view, frame) => (
    <div class="sharing">
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.created !== null && <Created url={view.created} />}
      {view.resource === '' && <p>Share is a button on the page of each file and folder.</p>}
      {view.links !== null && <Links view={view} frame={frame} />}
      {view.access !== null && <People view={view} frame={frame} />}
      {view.access === null && view.resource !== '' && (
        <section>
          <h2>People and groups</h2>
          <p>
            Rights for people with an account are given by whoever runs this site.
            {view.links === null &&
              ' So are links for people without one, to what one link can open.'}
          </p>
        </section>
      )}
    </div>
  ),
};

function Created({ url }: { url: string }) {
  return (
    <section class="notice">
      <label>
        <span>The link</span>
        <span class="copy-box">
          <input class="code" value={url} readonly data-select />
          <button type="button" class="quiet" data-copy="before">
            Copy
          </button>
        </span>
      </label>
      <p class="fine">Copy it now: it is not shown again. Whoever has it can open it.</p>
    </section>
  );
}

interface Parts {
  readonly view: ShareView;
  readonly frame: FrameView;
}

function address({ resource, view }: ShareView): string {
  const query = new URLSearchParams({ resource });
  for (const [name, text] of Object.entries(view)) if (text !== '') query.set(name, text);
  return `${SHARE_PAGE}?${query}`;
}

function Links({ view, frame }: Parts) {
  const { days, entered, links, needsPassword, resource } = view;
  const value = (name: string): string => entered.get(name) ?? '';
  return (
    <section>
      <h2>A link for people without an account</h2>
      <ViewWords view={view} />
      <PostForm
        class="filter query"
        frame={frame}
        to={address(view)}
        does="link"
        fields={VIEW_MEMBERS.map((name) => [name, view.view[name]] as const)}
      >
        {view.takesUploads && (
          <label>
            <span>Opens it</span>
            <Select name="kind" choices={KINDS} chosen={value('kind') || 'read'} />
          </label>
        )}
        <label>
          <span>Ends after</span>
          <input
            type="date"
            name="expires_at"
            value={value('expires_at') || days.usual}
            min={days.first}
            max={days.last}
            required
          />
        </label>
        <label>
          <span>For</span>
          <input
            name="description"
            value={value('description')}
            maxlength={MAX_DESCRIPTION_CHARACTERS}
            placeholder="who gets it"
            autocomplete="off"
          />
        </label>
        <label>
          <span>{needsPassword ? 'Password' : 'Password (optional)'}</span>
          <input
            type="password"
            name="password"
            autocomplete="new-password"
            required={needsPassword}
          />
        </label>
        <button type="submit">Make a link</button>
      </PostForm>
      {links!.length > 0 && <LinkList links={links!} view={view} frame={frame} />}
      <p class="fine" safe>
        {resource.endsWith('*')
          ? 'It shows the files that you may read there at that moment. It never shows more than you may read yourself.'
          : 'It can be read and exported, not changed, and never shows more than you may read yourself.'}
      </p>
    </section>
  );
}

const KINDS = [
  ['read', 'to read'],
  ['upload', 'to upload into only'],
] as const;

/** What the reader sees, and the way to all of it. */
function ViewWords({ view: { resource, view } }: { view: ShareView }) {
  const members = Object.entries(parseFilter(view.filter) ?? {});
  const words = [
    ...members.map(([name, member]) => `only rows where ${describeMember(name, member)}`),
    ...(members.length === 0 && view.filter !== '' ? ['only rows of your filter'] : []),
    ...(view.q === '' ? [] : [`only rows with “${view.q}”`]),
    ...(view.columns === '' ? [] : [`only the columns ${splitNames(view.columns).join(', ')}`]),
    ...(view.sort === '' ? [] : [`sorted by ${splitNames(view.sort).map(stepText).join(', ')}`]),
  ];
  if (words.length === 0) return '';
  return (
    <p>
      <span safe>{`It shows this view and nothing else: ${words.join('; ')}.`}</span>{' '}
      <a href={`${SHARE_PAGE}?${new URLSearchParams({ resource })}`}>Share all of it instead</a>
    </p>
  );
}

function stepText(step: string): string {
  return step.startsWith('-') ? `${step.slice(1)} (highest first)` : step;
}

function stateOf({ revoked_at: revoked, expires_at: end }: LinkView, now: string): string | null {
  if (revoked !== null) return 'withdrawn';
  return end <= now ? 'over' : null;
}

function LinkList({ links, view, frame }: Parts & { links: readonly LinkView[] }) {
  return (
    <div class="scroll" tabindex="0" role="region" aria-label="Links">
      <table>
        <thead>
          <tr>
            <th scope="col">For</th>
            <th scope="col">Made by</th>
            <th scope="col">Ends</th>
            <th scope="col" class="number">
              Opened
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {links.map((link) => (
            <tr class={stateOf(link, view.now) === null ? undefined : 'over'}>
              <td safe>
                {(link.description ?? `link ${link.id}`) +
                  (link.kind === 'upload' ? ' (uploads)' : '')}
              </td>
              <td safe>{link.username}</td>
              <td>
                {stateOf(link, view.now) ?? <UtcTime at={link.expires_at} />}
                {link.has_password && ' · password'}
              </td>
              <td class="number">
                <Count value={link.uses} />
              </td>
              <td>
                {stateOf(link, view.now) === null && (
                  <PostButton
                    frame={frame}
                    to={address(view)}
                    does="revoke-link"
                    fields={[['id', link.id]]}
                    label="Withdraw"
                    name={`Withdraw the link ${link.description ?? link.id}`}
                    look="quiet small danger"
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SHOWN_PEOPLE = 12;

function peopleText(people: readonly string[]): string {
  if (people.length === 0) return 'nobody yet';
  const more = people.length - SHOWN_PEOPLE;
  return people.slice(0, SHOWN_PEOPLE).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function People({ view, frame }: Parts) {
  const { holders, mayChange, superusers, names, notes } = view.access!;
  const { entered, resource } = view;
  return (
    <section>
      <h2>People and groups</h2>
      {mayChange && (
        <GiveForm
          frame={frame}
          resource={resource}
          names={names}
          to={entered.get('to') ?? ''}
          right={entered.get('right') ?? 'read'}
        />
      )}
      {holders.length > 0 && (
        <div class="scroll" tabindex="0" role="region" aria-label="Who has it">
          <table>
            <thead>
              <tr>
                <th scope="col">Group</th>
                <th scope="col">People</th>
                <th scope="col">May</th>
                <th scope="col">Because it holds</th>
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {holders.map((holder) => (
                <tr>
                  <td>
                    <a href={`${ADMIN_PAGES}/groups/${holder.groupId}`} safe>
                      {holder.group}
                    </a>
                  </td>
                  <td safe>{peopleText(holder.people)}</td>
                  <td safe>{holder.action}</td>
                  <td safe>{`${holder.action} on ${resourceText(holder.resource)}`}</td>
                  <td>
                    {holder.isOwn && mayChange && (
                      <PostButton
                        frame={frame}
                        to={address(view)}
                        does="take"
                        fields={[
                          ['group', holder.groupId],
                          ['held', holder.resource],
                          ['right', holder.action],
                        ]}
                        label="Remove"
                        name={`Remove ${holder.action} from ${holder.group}`}
                        look="quiet small danger"
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="fine" safe>
        {`Superusers may do everything: ${peopleText(superusers)}.`}
      </p>
      {notes.map((note) => (
        <p class="fine" safe>
          {note}
        </p>
      ))}
    </section>
  );
}
