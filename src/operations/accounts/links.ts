/** Links are made, listed and withdrawn here; what happens when they are opened is in link-use.ts. */
import { statSync } from 'node:fs';
import type { AccountsApp, App } from '../../app.ts';
import { isPlainRel } from '../../docroot/document-root.ts';
import { hashPassword } from '../../accounts/identity/passwords.ts';
import {
  createLink as addLink,
  type Link,
  LINK_KINDS,
  linkList,
  listLinks as findLinks,
  revokeLink as revoke,
} from '../../accounts/rights/links.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { normalResource } from '../../accounts/rights/resource-names.ts';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { Input, MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { FixedView } from '../../tables/read/fixed-view.ts';
import { joinNames, parseSort } from '../../tables/read/name-list.ts';
import { parseListParameters } from '../../tables/read/list-parameters.ts';
import { type Origin, record } from '../access.ts';
import { type Administrator, listOf } from '../administration.ts';
import { queryRows } from '../files/datasets.ts';
import { filesWithin, findResource } from '../files/resources.ts';
import { refusalOf } from '../files/uploads.ts';
import { requireStrength } from './sessions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Unless asked for otherwise. */
export const DEFAULT_DAYS = 7;
/** Texts of a view: filters of this size are legal addresses. */
const MAX_VIEW_CHARACTERS = 64 * 1024;

export interface LinkView {
  readonly id: number;
  readonly username: string;
  readonly kind: Link['kind'];
  readonly resource: string;
  readonly view: FixedView | null;
  readonly description: string | null;
  readonly has_password: boolean;
  readonly max_bytes: number | null;
  readonly uploaded_bytes: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
  readonly uses: number;
  readonly last_used_at: string | null;
}

function viewOf(link: Link, username: string): LinkView {
  return {
    id: link.id,
    username,
    kind: link.kind,
    resource: link.resource,
    view: link.view === null ? null : (JSON.parse(link.view) as FixedView),
    description: link.description,
    has_password: link.passwordHash !== null,
    max_bytes: link.maxBytes,
    uploaded_bytes: link.uploadedBytes,
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    revoked_at: link.revokedAt,
    uses: link.uses,
    last_used_at: link.lastUsedAt,
  };
}

/** Whether the configuration lets the caller make links at all. */
export function mayShare({ config }: Pick<App, 'config'>, caller: Principal): boolean {
  const { links } = config.sharing;
  if (config.readonly || caller.scopes !== null || caller.link !== undefined) return false;
  return links === 'readers' || (links === 'superusers' && caller.isSuperuser);
}

/** The only time its secret is told. */
export interface NewLinkView extends LinkView {
  readonly secret: string;
}

/**
 * Audited. Throws `permission-denied` for who may not share, as `findResource` for what the maker may not read,
 * `invalid-query` for a view that the dataset does not have, `invalid-request`, `weak-password`.
 */
export async function createLink(
  services: App,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<NewLinkView> {
  const request = linkRequest(services, body);
  if (!mayShare(services, caller)) {
    throw new AppError('permission-denied', whyNot(services));
  }
  const target =
    request.kind === 'upload'
      ? await uploadTarget(services, caller, request)
      : await readTarget(services, caller, origin, request);
  const { password } = request;
  if (password !== null) await requireStrength(services, password, caller.username);
  const { link, secret } = await addLink(services.db, {
    userId: caller.userId,
    kind: request.kind,
    ...target,
    description: request.description,
    passwordHash: password === null ? null : await hashPassword(password),
    maxBytes: request.kind === 'upload' ? request.maxBytes : null,
    now: services.clock.now(),
    lifeMs: request.lifeMs,
  });
  const what = link.kind === 'read' ? 'to read' : 'to upload into';
  const details = `Created link ${link.id} ${what} ${shown(link.resource)}, until ${link.expiresAt}`;
  await record(services, { user: caller, origin }, 'create_link', link.resource, details);
  return { ...viewOf(link, caller.username), secret };
}

function shown(resource: string): string {
  return resource === '*' ? 'the document root' : resource;
}

function whyNot({ config }: App): string {
  if (config.readonly) return 'The server is in read-only mode';
  return config.sharing.links === 'off'
    ? 'Links are switched off (sharing.links)'
    : 'Only superusers make links here (sharing.links)';
}

/** As the API takes columns. */
type AskedView = Omit<FixedView, 'columns'> & { readonly columns: string };

interface LinkRequest {
  readonly kind: Link['kind'];
  readonly resource: string;
  readonly view: AskedView;
  readonly description: string | null;
  readonly password: string | null;
  readonly maxBytes: number;
  readonly lifeMs: number;
}

function linkRequest(services: App, body: unknown): LinkRequest {
  const { sharing } = services.config;
  const input = new Input(body);
  const kind = input.raw('kind') === undefined ? 'read' : input.word('kind', LINK_KINDS);
  const resource = normalResource(input.text('resource'));
  const description = input.optionalText('description', MAX_DESCRIPTION_CHARACTERS);
  const given = input.optionalText('password');
  const password = given === '' ? null : given;
  if (password === null && sharing.requires_password) {
    input.refuse(issueOf('password', 'missing', 'Links have a password here'));
  }
  const texts = { filter: '', sort: '', q: '' };
  for (const name of ['filter', 'sort', 'q'] as const) {
    texts[name] = input.optionalText(name, MAX_VIEW_CHARACTERS) ?? '';
  }
  const asked = input.raw('columns') ?? [];
  const columns = typeof asked === 'string' ? asked : namesIn(asked);
  if (columns === null)
    input.refuse(issueOf('columns', 'list_type', 'Columns are a list of names'));
  const most = sharing.max_upload_bytes;
  const maxBytes = input.raw('max_bytes') === undefined ? most : input.integer('max_bytes', 1);
  if (maxBytes > most) {
    input.refuse(issueOf('max_bytes', 'less_than_equal', `At most ${most} bytes here`));
  }
  const lifeMs = lifeOf(input, services.clock.now(), sharing.max_days);
  input.finish();
  const view = { ...texts, columns: columns ?? '' };
  return { kind, resource, view, description, password, maxBytes, lifeMs };
}

function namesIn(value: unknown): string | null {
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string');
  return isList ? joinNames(value as string[]) : null;
}

function issueOf(name: string, type: string, msg: string) {
  return { type, loc: ['body', name], msg };
}

/** From `expires_at`, a moment or the last day (UTC), or `expires_in_days`. */
function lifeOf(input: Input, now: number, maxDays: number): number {
  const at = input.optionalText('expires_at');
  const usual = Math.min(DEFAULT_DAYS, maxDays);
  const days =
    (input.raw('expires_in_days') ?? null) === null ? usual : input.integer('expires_in_days', 1);
  const isDay = at !== null && /^\d{4}-\d{2}-\d{2}$/.test(at);
  const end = at === null ? now + days * DAY_MS : Date.parse(isDay ? `${at}T23:59:59Z` : at);
  const field = at === null ? 'expires_in_days' : 'expires_at';
  if (Number.isNaN(end)) {
    input.refuse(issueOf(field, 'datetime_parsing', 'A day as 2026-12-31, or a moment'));
  } else if (end <= now) input.refuse(issueOf(field, 'value_error', 'The link would be over'));
  else if (end > now + (maxDays + 1) * DAY_MS || days > maxDays) {
    const msg = `A link lives at most ${maxDays} days here (sharing.max_days)`;
    input.refuse(issueOf(field, 'less_than_equal', msg));
  }
  return end - now;
}

type Target = Pick<Link, 'resource' | 'view'>;

export function isFolder(resource: string): boolean {
  return resource === '*' || resource.endsWith('/*');
}

async function readTarget(
  services: App,
  caller: Principal,
  origin: Origin,
  { resource: name, view }: LinkRequest,
): Promise<Target> {
  if (isFolder(name)) {
    if (!isEmptyView(view)) {
      const msg = 'A folder has no filter, sort, q and columns; share a dataset for that';
      throw invalidRequest(issueOf('resource', 'value_error', msg));
    }
    if ((await filesWithin(services, caller, name)).length > 0)
      return { resource: name, view: null };
    throw new AppError('not-found', `There is nothing in ${name} that you may read`);
  }
  const resource = await findResource(services, caller, origin, { name, verb: 'read' });
  if (!isLinkable(resource)) {
    const text = `A ${resource.type} asks for more than one link opens; share it with people and groups`;
    throw new AppError('bad-request', text);
  }
  const { extensionForm } = resource;
  if (resource.kind.dataset !== undefined) {
    const fixed = await fixedView(services, resource, view);
    return { resource: extensionForm, view: JSON.stringify(fixed) };
  }
  if (isEmptyView(view)) return { resource: extensionForm, view: null };
  const msg = `${extensionForm} has no rows to filter, sort or choose columns of`;
  throw invalidRequest(issueOf('resource', 'value_error', msg));
}

/** Handlers run as the one who asks; panels of a dashboard ask for what its readers may read. */
export function isLinkable({ type }: Pick<Resource, 'type'>): boolean {
  return type !== 'handler' && type !== 'dashboard';
}

function isEmptyView(view: AskedView): boolean {
  return Object.values(view).every((text) => text === '');
}

/** With the columns of today, so that one that is added later is not shown. */
async function fixedView(
  services: App,
  resource: Resource,
  { columns, filter, sort, q }: AskedView,
): Promise<FixedView> {
  const none = parseListParameters(new URLSearchParams({ limit: '1' }));
  const asked = { ...none, filter, sort, q, columns: columns === '' ? [] : [columns] };
  return queryRows(services, resource, asked, 'json', ({ prepared, table }) => {
    const names = prepared.plan.shape.columns.map(({ name }) => name);
    const all = [...table.columns.map(({ name }) => name), '_row_id'].map((name) => ({ name }));
    const hidden = parseSort(sort, 'asc', all)
      .map(({ column }) => all[column]!.name)
      .find((name) => name !== '_row_id' && !names.includes(name));
    if (hidden !== undefined) {
      // The order of rows would tell of values that are not shown.
      const text = `Invalid sort: the view is sorted by '${hidden}', so it has to show that column`;
      throw new AppError('invalid-query', text);
    }
    return { columns: names, filter, sort, q };
  });
}

/** Of a link for uploads; `''` is the document root. */
export function folderOf(resource: string): string {
  return resource === '*' ? '' : resource.slice(0, -'/*'.length);
}

async function uploadTarget(
  services: App,
  caller: Principal,
  { resource: asked, view }: LinkRequest,
): Promise<Target> {
  const resource = asked === '' ? '*' : asked;
  if (!isFolder(resource)) {
    const msg = 'Uploads go into a folder, named as incoming/*, or into the document root, *';
    throw invalidRequest(issueOf('resource', 'value_error', msg));
  }
  if (!isEmptyView(view)) {
    const msg = 'A link for uploads shows nothing, so it has no filter, sort, q and columns';
    throw invalidRequest(issueOf('kind', 'value_error', msg));
  }
  const folder = folderOf(resource);
  const refusal = await refusalOf(services, caller, folder);
  if (refusal !== null) throw refusal;
  const spelled = folder === '' ? '' : await services.moves.spelled(folder);
  if (!isFolderThere(services, spelled)) {
    throw new AppError('not-found', `There is no folder ${folder}`);
  }
  return { resource: spelled === '' ? '*' : `${spelled}/*`, view: null };
}

function isFolderThere({ registry: { root } }: App, rel: string): boolean {
  if (rel === '') return true;
  if (!isPlainRel(rel) || !root.mayPublish(rel)) return false;
  return statSync(root.absolute(rel), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Those of the caller, of one resource or of all; newest first, those that are over too. */
export async function listLinks(
  services: App,
  caller: Principal,
  resource: string | null = null,
): Promise<LinkView[]> {
  const found = await findLinks(services.db, {
    ...(!(caller.isSuperuser && resource !== null) && { userId: caller.userId }),
    ...(resource !== null && { resources: [resource] }),
  });
  return found.map((link) => viewOf(link, link.username));
}

/** Repeatable; audited. Throws `not-found` for another user's or unknown id. */
export async function revokeLink(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<void> {
  const only = caller.isSuperuser ? {} : { userId: caller.userId };
  const link = await revoke(services.db, id, services.clock.now(), only);
  await noteRevoked(services, { user: caller, origin }, link);
}

/** Those that are over too, newest first. Throws as `listOf`. */
export const listAllLinks = listOf(linkList);

/** Repeatable; audited. Throws `not-found`. */
export async function revokeAnyLink(
  services: AccountsApp,
  admin: Administrator,
  id: number,
): Promise<void> {
  const link = await revoke(services.db, id, services.clock.now());
  await noteRevoked(services, admin, link);
}

async function noteRevoked(
  services: AccountsApp,
  actor: Parameters<typeof record>[1],
  link: Link | null,
): Promise<void> {
  if (link === null) throw new AppError('not-found', 'Link not found');
  await record(services, actor, 'revoke_link', link.resource, `Revoked link ${link.id}`);
}
