/**
 * A form names its `action`. A destructive one is answered with a question first; a success redirects to the page, a
 * refusal shows the page with the reason. Every action calls an operation that a route for programs calls too.
 */
import { AppError } from '../../../base/errors.ts';
import type { Administrator } from '../../../operations/administration.ts';
import { askedFormat, formatParameter } from '../../../http/reply/asked-format.ts';
import type { Context } from '../../../http/context.ts';
import type { Format } from '../../../tables/read/format.ts';
import { idOf, problemText } from '../../../http/body/form-request.ts';
import { listFile, type ListRow } from '../../../http/reply/list-file.ts';
import { pageReply } from '../../../http/reply/page-reply.ts';
import { confirmPage, type Question } from '../confirm.tsx';
import { ADMIN_HOME, ADMIN_PAGES, type AdminView } from '../layout.tsx';
import type { Listing } from '../listing.tsx';
import type { Page } from '../../views/frame.tsx';
import { redirectReply, type Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route-table.ts';
import type { ServerServices } from '../../../http/dependencies.ts';
import { adminDoor, adminOf } from '../../../api/admin/door.ts';

export interface Deed {
  readonly context: Context;
  readonly services: ServerServices;
  readonly admin: Administrator;
  /** `''` when the field is empty or missing. */
  field(name: string): string;
  /** An id from a hidden field. Throws `bad-request`. */
  id(name?: string): number;
}

interface AdminAction<Data> {
  /** Makes the confirmation question; absent: none is asked. Throws as `run`. */
  readonly asks?: (deed: Deed) => Promise<Question>;
  /** A returned value is shown on the same page at once, instead of a redirect to the page. */
  readonly run: (deed: Deed) => Promise<Partial<Data> | void>;
  readonly done: string;
  /** Path of the page shown next; the same one unless given. */
  readonly leadsTo?: string;
}

interface AdminPageDefinition<Data> {
  readonly path: string;
  readonly summary: string;
  readonly page: Page<AdminView<Data>>;
  readonly read: (context: Context, admin: Administrator) => Promise<Data>;
  readonly actions?: Readonly<Record<string, AdminAction<Data>>>;
  /** Notices for redirects from actions of other pages. */
  readonly notices?: Readonly<Record<string, string>>;
}

export function adminPageRoute<Data>(definition: AdminPageDefinition<Data>): Route {
  const { path, summary, actions } = definition;
  const isHome = path === '';
  const shown = { description: 'A page for people', mediaType: 'text/html', schema: null };
  return {
    pattern: isHome ? '/admin' : `${ADMIN_PAGES}/${path}`,
    ...(isHome
      ? {
          access: 'public',
          endsInSlash: true,
          isListedFor: ({ caller }) => isAdministrator(caller),
        }
      : adminDoor),
    describes: {
      GET: {
        summary,
        tag: 'admin',
        ...(!isHome && { parameters: [formatParameter] }),
        answers: { 200: shown },
        errors: isHome ? [] : [404, 422],
      },
      ...(actions !== undefined && {
        POST: {
          summary: `Take a form: ${summary.toLowerCase()}`,
          tag: 'admin',
          body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
          answers: { 200: shown, 303: { description: 'Done; back to the page', schema: null } },
          errors: [400, 404, 409, 422],
        },
      }),
    },
    methods: {
      GET: (context) => {
        if (isHome && !isAdministrator(context.caller)) {
          return redirectReply(`/auth/login?next=${ADMIN_HOME}`);
        }
        const format = askedFormat(context);
        return format === null
          ? show(definition, context, {})
          : fileOf(definition, context, format);
      },
      ...(actions !== undefined && { POST: (context) => take(definition, context, actions) }),
    },
  };
}

function isAdministrator(caller: Context['caller']): boolean {
  return caller?.isSuperuser === true;
}

interface Outcome<Data> {
  readonly notice?: string;
  readonly error?: AppError;
  readonly entered?: Readonly<Record<string, string>>;
  readonly more?: Partial<Data>;
}

async function show<Data>(
  { page, read, actions = {}, notices = {} }: AdminPageDefinition<Data>,
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

/**
 * A list of the page as a download; `list` names it where there are several. Throws `not-found` for a page without
 * it.
 */
async function fileOf<Data>(
  { path, read }: AdminPageDefinition<Data>,
  context: Context,
  format: Format,
): Promise<Reply> {
  const data = Object.values((await read(context, adminOf(context))) as object) as unknown[];
  const part = context.queryValue('list') ?? '';
  // Some lists are members of other data.
  const told = data.flatMap((one) => [one, ...Object.values(one ?? {})]);
  const list = told.filter(isListing).find((one) => one.part === part);
  if (list === undefined) throw new AppError('not-found', 'Not Found');
  const name = part === '' ? path.slice(path.lastIndexOf('/') + 1) : part;
  return listFile(name, format, (list.items as readonly ListRow[]).map(asAnswered));
}

function asAnswered(row: ListRow): ListRow {
  const entries = Object.entries(row).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(entries) as ListRow;
}

function isListing(value: unknown): value is Listing<unknown> {
  return typeof value === 'object' && value !== null && 'items' in value && 'part' in value;
}

/** Path and query without the notice of the last action. */
function addressOf({ path, linkQuery }: Context): string {
  const kept = new URLSearchParams(linkQuery);
  kept.delete('done');
  return kept.size === 0 ? path : `${path}?${kept}`;
}

async function take<Data>(
  definition: AdminPageDefinition<Data>,
  context: Context,
  actions: Readonly<Record<string, AdminAction<Data>>>,
): Promise<Reply> {
  const fields = (await context.form()) ?? new Map<string, string>();
  try {
    const name = fields.get('action') ?? '';
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) throw new AppError('bad-request', 'The form names no action');
    const deed = deedOf(context, fields);
    if (action.asks !== undefined && fields.get('confirmed') !== 'yes') {
      return question(context, fields, await action.asks(deed));
    }
    const more = await action.run(deed);
    if (more !== undefined) return await show(definition, context, { notice: action.done, more });
    return redirectReply(withDone(action.leadsTo ?? addressOf(context), name), 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    const entered = [...fields].filter(([name]) => !name.includes('password'));
    return show(definition, context, { error, entered: Object.fromEntries(entered) });
  }
}

function deedOf(context: Context, fields: ReadonlyMap<string, string>): Deed {
  const field = (name: string): string => fields.get(name) ?? '';
  const { services } = context;
  return {
    context,
    services,
    admin: adminOf(context),
    field,
    id: (name = 'id') => idOf(field(name)),
  };
}

function question(context: Context, fields: ReadonlyMap<string, string>, asked: Question): Reply {
  const kept = [...fields].filter(([name]) => name !== 'csrf_token');
  return pageReply(context, confirmPage, {
    ...asked,
    address: addressOf(context),
    fields: kept,
  });
}

function withDone(address: string, action: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}done=${action}`;
}
