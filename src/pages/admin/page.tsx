/** @jsxImportSource @kitajs/html */
/**
 * A page of administration is one descriptor in nouns/. A form posts to its page and names its `action`. A destructive one
 * is answered with a question, which browser/admin.ts shows as a dialog; a success redirects to the page, a refusal shows
 * the page with the reason. Every action calls an operation that a route for programs calls too.
 */
import { type AnyElysia, Elysia } from 'elysia';
import type { PropsWithChildren } from '@kitajs/html';
import { adminChecks, adminOf } from '../../api/admin/handlers.ts';
import { AppError } from '../../base/errors.ts';
import { idOf, problemText } from '../form-request.ts';
import type { Context, RouteRules, ServerServices } from '../../http/context.ts';
import {
  askedFormat,
  formatParameter,
  listFile,
  type ListRow,
} from '../../http/reply/list-file.ts';
import { pageReply } from '../page-reply.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import type { Administrator } from '../../operations/administration.ts';
import type { Format } from '../../tables/read/format.ts';
import { PostButton, PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { ADMINISTRATION, type Crumb, type FrameView, type Page } from '../frame.tsx';
import { ADMIN_PAGES, ADMIN_SECTIONS } from './sections.ts';

interface AdminState {
  readonly address: string;
  /** False in read-only mode. */
  readonly mayChange: boolean;
  readonly notice: string | null;
  readonly problem: string | null;
  /** Of the refused form, without passwords. */
  readonly entered: Readonly<Record<string, string>>;
}

export interface AdminView<Data> {
  readonly data: Data;
  readonly state: AdminState;
}

export interface Surroundings {
  readonly state: AdminState;
  readonly frame: FrameView;
}

export interface Submission {
  readonly context: Context;
  readonly services: ServerServices;
  readonly admin: Administrator;
  /** `''` when the field is empty or missing. */
  field(name: string): string;
  /** An id from a hidden field. Throws `bad-request`. */
  id(name?: string): number;
}

interface Question {
  readonly title: string;
  readonly effects: readonly string[];
  readonly button: string;
}

interface AdminAction<Data> {
  /** Makes the question; absent: none is asked. Throws as `run`. */
  readonly asks?: (sent: Submission) => Promise<Question> | Question;
  /** A returned value is shown at once, instead of a redirect. */
  readonly run: (sent: Submission) => Promise<Partial<Data> | void>;
  readonly done: string;
  /** Path of the page shown next; the same one unless given. */
  readonly leadsTo?: string;
}

interface Definition<Data> {
  /** Below ADMIN_PAGES; `''` for the first page. */
  readonly path: string;
  readonly name?: string;
  readonly summary: string;
  readonly title: string | ((data: Data) => string);
  readonly trail?: readonly Crumb[];
  readonly read: (context: Context, admin: Administrator) => Promise<Data>;
  readonly content: (data: Data, around: Surroundings) => JSX.Element;
  readonly actions?: Readonly<Record<string, AdminAction<NoInfer<Data>>>>;
  /** Notices for redirects from actions of other pages. */
  readonly notices?: Readonly<Record<string, string>>;
}

export interface AdminPage<Data> extends Definition<Data> {
  readonly page: Page<AdminView<Data>>;
  readonly route: AnyElysia;
}

export function adminPage<Data>(definition: Definition<Data>): AdminPage<Data> {
  const { path, title, trail = [], content, name = `admin-${path}` } = definition;
  const titleOf = (data: Data): string => (typeof title === 'string' ? title : title(data));
  const page: Page<AdminView<Data>> = {
    name,
    title: ({ data }) => titleOf(data),
    layout: 'wide',
    hasOwnHeading: () => true,
    styles: ['admin.css'],
    scripts: ['admin.js'],
    ...(path !== '' && { trail: () => [ADMINISTRATION, ...trail] }),
    content: ({ data, state }, frame) => (
      <div class="admin">
        <Sections path={frame.path} />
        <div class="section">
          <h1 safe>{titleOf(data)}</h1>
          {!state.mayChange && <p class="notice">Read-only mode: nothing can be changed here.</p>}
          <Problem text={state.problem} />
          <Notice text={state.notice} />
          {content(data, { state, frame })}
        </div>
      </div>
    ),
  };
  return { ...definition, page, route: routeOf({ ...definition, page }) };
}

/** Both forms work without script. */
function Sections({ path }: { path: string }) {
  const isHere = (href: string): boolean => path === href || path.startsWith(`${href}/`);
  return (
    <>
      <button class="quiet small fold" type="button" popovertarget="sections">
        <span class="glyph stripes" aria-hidden="true"></span>
        Sections
      </button>
      <nav id="sections" class="foldable" aria-label="Administration" popover="auto">
        <a href={ADMINISTRATION.href} aria-current={/^\/admin\/?$/.test(path) ? 'page' : undefined}>
          Overview
        </a>
        {ADMIN_SECTIONS.map(({ label, href }) => (
          <a {...{ href }} aria-current={isHere(href) ? 'page' : undefined} safe>
            {label}
          </a>
        ))}
      </nav>
    </>
  );
}

type Shown<Data> = Omit<AdminPage<Data>, 'route'>;

function routeOf<Data>(definition: Shown<Data>): AnyElysia {
  const { path, summary, actions } = definition;
  const isHome = path === '';
  const address = isHome ? '/admin' : `${ADMIN_PAGES}/${path}`;
  const shown = { description: 'A page for people', mediaType: 'text/html', schema: null };
  const checks: RouteRules = isHome
    ? {
        access: 'public',
        endsInSlash: true,
        isListedFor: ({ caller }) => caller?.isSuperuser === true,
      }
    : adminChecks;
  const routes = new Elysia({ name: `admin-page-${path}` }).use(lifecycle).get(
    address,
    ({ ask }) => {
      if (isHome && ask.caller?.isSuperuser !== true) {
        return redirectReply(`/auth/login?next=${ADMINISTRATION.href}`);
      }
      const format = askedFormat(ask);
      return format === null ? show(definition, ask, {}) : fileOf(definition, ask, format);
    },
    {
      checks,
      describes: {
        summary,
        tag: 'admin',
        ...(!isHome && { parameters: [formatParameter] }),
        answers: { 200: shown },
        errors: isHome ? [] : [404, 422],
      },
    },
  );
  if (actions === undefined) return routes;
  return routes.post(address, ({ ask }) => take(definition, ask, actions), {
    checks,
    describes: {
      summary: `Take a form: ${summary.toLowerCase()}`,
      tag: 'admin',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: { 200: shown, 303: { description: 'Done; back to the page', schema: null } },
      errors: [400, 404, 409, 422],
    },
  });
}

interface Outcome<Data> {
  readonly notice?: string;
  readonly error?: AppError;
  readonly entered?: Readonly<Record<string, string>>;
  readonly more?: Partial<Data>;
}

async function show<Data>(
  { page, read, actions = {}, notices = {} }: Shown<Data>,
  context: Context,
  { notice, error, entered = {}, more = {} }: Outcome<Data>,
): Promise<Reply> {
  const done = context.queryValue('done') ?? '';
  const said = new Map([
    ...Object.entries(notices),
    ...Object.entries(actions).map(([name, action]) => [name, action.done] as const),
  ]);
  const data = { ...(await read(context, adminOf(context))), ...more };
  const state = {
    address: addressOf(context),
    mayChange: !context.services.config.readonly,
    notice: notice ?? (error === undefined ? (said.get(done) ?? null) : null),
    problem: error === undefined ? null : problemText(error),
    entered,
  };
  return pageReply(context, page, { data, state }, error ?? {});
}

/** A list of the page as a download; `list` names it where there are several. Throws `not-found` without one. */
async function fileOf<Data>(
  { path, read }: Shown<Data>,
  context: Context,
  format: Format,
): Promise<Reply> {
  const members = Object.values((await read(context, adminOf(context))) as object) as unknown[];
  const part = context.queryValue('list') ?? '';
  // Some lists are members of other data.
  const list = members
    .flatMap((one) => [one, ...Object.values(one ?? {})])
    .filter(isListing)
    .find((one) => one.part === part);
  if (list === undefined) throw new AppError('not-found', 'Not Found');
  const name = part === '' ? path.slice(path.lastIndexOf('/') + 1) : part;
  const rows = list.items.map((row): ListRow => {
    const entries = Object.entries(row).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]);
    return Object.fromEntries(entries);
  });
  return listFile(name, format, rows);
}

interface NamedRows {
  readonly items: readonly ListRow[];
  readonly part: string;
}

function isListing(value: unknown): value is NamedRows {
  return typeof value === 'object' && value !== null && 'items' in value && 'part' in value;
}

function addressOf({ path, linkQuery }: Context): string {
  const kept = new URLSearchParams(linkQuery);
  kept.delete('done');
  return kept.size === 0 ? path : `${path}?${kept}`;
}

async function take<Data>(
  definition: Shown<Data>,
  context: Context,
  actions: Readonly<Record<string, AdminAction<Data>>>,
): Promise<Reply> {
  const fields = (await context.form()) ?? new Map<string, string>();
  const field = (name: string): string => fields.get(name) ?? '';
  const address = addressOf(context);
  try {
    const name = field('action');
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) throw new AppError('bad-request', 'The form names no action');
    const sent: Submission = {
      context,
      services: context.services,
      admin: adminOf(context),
      field,
      id: (idName = 'id') => idOf(field(idName)),
    };
    if (action.asks !== undefined && field('confirmed') !== 'yes') {
      const kept = [...fields].filter(([key]) => key !== 'csrf_token');
      return pageReply(context, confirmPage, {
        ...(await action.asks(sent)),
        address,
        fields: kept,
      });
    }
    const more = await action.run(sent);
    if (more !== undefined) return await show(definition, context, { notice: action.done, more });
    const next = action.leadsTo ?? address;
    return redirectReply(`${next}${next.includes('?') ? '&' : '?'}done=${name}`, 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    const entered = [...fields].filter(([key]) => !key.includes('password'));
    return show(definition, context, { error, entered: Object.fromEntries(entered) });
  }
}

interface ConfirmView extends Question {
  readonly address: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Sending the form again with `confirmed` does it. */
export const confirmPage: Page<ConfirmView> = {
  name: 'admin-confirm',
  layout: 'card',
  title: ({ title }) => title,
  styles: ['admin.css'],
  trail: () => [ADMINISTRATION],
  content: (view, frame) => (
    <PostForm
      class="confirm"
      frame={frame}
      to={view.address}
      fields={[...view.fields, ['confirmed', 'yes']]}
    >
      {view.effects.length > 0 && (
        <ul>
          {view.effects.map((effect) => (
            <li safe>{effect}</li>
          ))}
        </ul>
      )}
      <p class="actions">
        <button class="danger" type="submit" safe>
          {view.button}
        </button>
        <a class="button quiet" href={view.address} data-cancel>
          Cancel
        </a>
      </p>
    </PostForm>
  ),
};

interface FormProps extends Surroundings {
  readonly action: string;
  readonly button: string;
  readonly class?: string;
}

/** Renders nothing in read-only mode. */
export function AdminForm(props: PropsWithChildren<FormProps>) {
  const { state, frame, action, button, class: look = 'filter query', children } = props;
  if (!state.mayChange) return '';
  return (
    <PostForm class={look} frame={frame} to={state.address} does={action}>
      {children}
      <button type="submit" safe>
        {button}
      </button>
    </PostForm>
  );
}

/** A form that opens on demand, and at once when it was refused. */
export function FoldedForm(
  props: PropsWithChildren<FormProps & { label: string; isOpen?: boolean }>,
) {
  const { label, isOpen = false, ...form } = props;
  const { state, action } = form;
  if (!state.mayChange) return '';
  return (
    <details class="fold-away" open={isOpen || state.entered['action'] === action}>
      <summary safe>{label}</summary>
      <AdminForm {...form} class="stack narrow" />
    </details>
  );
}

interface ActProps {
  readonly action: string;
  readonly label: string;
  /** For screen readers. */
  readonly about: string;
  readonly fields?: Readonly<Record<string, string | number>>;
  readonly asks?: boolean;
}

export function Act(props: Surroundings & ActProps) {
  const { state, frame, action, label, about, fields = {}, asks = true } = props;
  if (!state.mayChange) return '';
  return (
    <PostButton
      class="act"
      frame={frame}
      to={state.address}
      does={action}
      fields={Object.entries(fields)}
      data-asks={asks ? '' : undefined}
      label={label}
      name={`${label} ${about}`}
      look={asks ? 'quiet small danger' : 'quiet small'}
    />
  );
}
