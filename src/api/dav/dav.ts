/**
 * The folder as a drive: WebDAV, classes 1 and 2 (RFC 4918), below `/dav/`.
 *
 * The operations are those of `/_svc/files`, with their rights, atomic writes, trash and audit; names of files that one
 * may not read are not listed. Credentials are API keys or, where they are allowed, passwords as Basic, never cookies.
 * Dead properties are not kept.
 */
import { type AnyElysia, Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { BASIC_CHALLENGE } from '../../accounts/identity/refusal.ts';
import { MAX_LOCK_SECONDS } from '../../docroot/client-locks.ts';
import type { DavMethod } from '../../http/operation-description.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { fileReply } from '../../http/reply/file-reply.ts';
import { type Answer, bodyReply, emptyReply, type Reply } from '../../http/reply/reply.ts';
import {
  type Changer,
  copyFile,
  createFolder,
  deleteEntry,
  factsOfFile,
  folderOf,
  type FolderEntry,
  type HeldLocks,
  listFolder,
  moveEntry,
  putFile,
  requireEntry,
  requireFileChanges,
  requireStake,
} from '../../operations/files/file-changes.ts';
import { versionsOf } from '../files/datasets.ts';
import { depthOf, destinationOf, IfHeader, timeoutOf } from './conditions.ts';
import { activeLock, addressOf, askedProperties, responseOf, stat } from './properties.ts';
import {
  childOf,
  DAV,
  type Element,
  escaped,
  MAX_XML_BYTES,
  readXml,
  tag,
  XML_START,
  XML_TYPE,
} from './xml.ts';

type Method = DavMethod | 'GET' | 'PUT' | 'DELETE';
type Handler = (context: Context, path: string) => Promise<Answer>;

/** Of a folder's copy, in files and folders. */
const MAX_COPIED = 10_000;
const MAX_NOTE_CHARACTERS = 1_000;

const handlers: Readonly<Record<Method, Handler>> = {
  OPTIONS: async () => emptyReply(200, { DAV: '1, 2', 'MS-Author-Via': 'DAV', Allow: METHODS }),
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  GET: get,
  PUT: put,
  DELETE: remove,
  MKCOL: makeFolder,
  COPY: (context, path) => transfer(context, path, 'copy'),
  MOVE: (context, path) => transfer(context, path, 'move'),
  LOCK: lock,
  UNLOCK: unlock,
};
const METHODS = ['HEAD', ...Object.keys(handlers)].join(', ');

const checks = {
  access: 'user',
  ignoresCookies: true,
  decidesReadOnly: true,
  neverRedirects: true,
  yieldsWhenOff: true,
  isOn: ({ config }) => config.webdav.enabled,
  answersFailure: failureReply,
} as const satisfies RouteRules;

const plugin = new Elysia({ name: 'dav' }).use(lifecycle);
for (const [method, handler] of Object.entries(handlers)) {
  plugin
    .route(method, '/dav', ({ ask }) => handler(ask, ''), { checks })
    .route(method, '/dav/*', ({ ask }) => handler(ask, pathOf(ask)), {
      checks: { ...checks, rest: 'path' },
    });
}
export const davRoutes: AnyElysia = plugin;

function pathOf({ parameters }: Context): string {
  return (parameters['path'] ?? '').replace(/\/$/, '');
}

function changerOf({ services, user, origin }: Context): Changer {
  return { services, user, origin, seesAll: services.config.webdav.all_files };
}

/** Throws 415 for what nobody would see again. */
function requireServed({ services }: Context, path: string): void {
  if (services.config.webdav.all_files || services.uploads.serves(path)) return;
  const text = `Files like '${path}' are not published here, so nobody would see it again`;
  throw new AppError('unsupported-media-type', text);
}

/** Statuses that clients of WebDAV know. */
function failureReply(failure: AppError, context: Context): Reply {
  const status = failure.code === 'locked' ? 423 : failure.status;
  const challenge: Record<string, string> =
    failure.status === 401 ? { 'WWW-Authenticate': BASIC_CHALLENGE } : {};
  const condition = CONDITIONS[failure.code] ?? '';
  const body = `${XML_START}<D:error xmlns:D="DAV:" xmlns:s="svc:">${condition}<s:message>${escaped(failure.message)}</s:message><s:request>${escaped(context.requestId)}</s:request></D:error>\n`;
  const headers = { ...failure.headers, ...challenge };
  return bodyReply(body, XML_TYPE, { status, headers });
}

const CONDITIONS: Readonly<Partial<Record<AppError['code'], string>>> = {
  locked: '<D:lock-token-submitted/>',
  'permission-denied': '<D:need-privileges/>',
};

async function bodyOf(context: Context): Promise<Element | null> {
  const bytes = await context.body.bytes(MAX_XML_BYTES);
  return bytes.length === 0 ? null : readXml(bytes);
}

/** What one who may list a folder sees of it, or the file. */
async function entryAt(context: Context, path: string): Promise<FolderEntry> {
  if (path === '') return { rel: '', resource: null };
  const { services } = context;
  if (services.moves.isFolder(await services.moves.spelled(path))) {
    const entries = await listFolder(changerOf(context), path);
    if (entries !== null) return { rel: await services.moves.spelled(path), resource: null };
  }
  const entry = await requireEntry(changerOf(context), path, ['read']);
  if (entry.resource?.type === 'handler') throw new AppError('not-found', 'Not Found');
  return entry;
}

async function propfind(context: Context, path: string): Promise<Answer> {
  const depth = depthOf(context);
  if (depth === 'infinity') {
    const body = `${XML_START}<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n`;
    return bodyReply(body, XML_TYPE, { status: 403 });
  }
  const asked = askedProperties(await bodyOf(context));
  if (asked === null) throw new AppError('bad-request', 'The body is no propfind element');
  const entry = await entryAt(context, path);
  const isList = depth === 1 && entry.resource === null;
  const below = isList ? await listFolder(changerOf(context), path) : null;
  const answer = async function* (): AsyncGenerator<string> {
    yield `${XML_START}<D:multistatus xmlns:D="DAV:">\n`;
    for (const one of [entry, ...(below ?? [])]) yield responseOf(context, one, asked);
    yield '</D:multistatus>\n';
  };
  return bodyReply(answer(), XML_TYPE, { status: 207 });
}

/** Clients set times and attributes of their systems after each copy, and take a refusal for a failed copy. */
const IGNORED = /^(?:urn:schemas-microsoft-com:|http:\/\/(?:www\.)?apple\.com\/)/;

async function proppatch(context: Context, path: string): Promise<Answer> {
  const body = await bodyOf(context);
  if (body?.namespace !== DAV || body.name !== 'propertyupdate') {
    throw new AppError('bad-request', 'The body is no propertyupdate element');
  }
  const entry = await requireEntry(changerOf(context), path, ['write']);
  requireTokens(context, IfHeader.of(context), entry.rel, false);
  const names = body.children.flatMap((update) => childOf(update, 'prop')?.children ?? []);
  const refused = names.filter(({ namespace }) => !IGNORED.test(namespace));
  const others = names.filter(({ namespace }) => IGNORED.test(namespace));
  const parts = [
    ...(refused.length > 0
      ? [
          stat(
            refused.map((one) => tag(one)),
            403,
          ),
        ]
      : []),
    ...(others.length > 0
      ? [
          stat(
            others.map((one) => tag(one)),
            refused.length > 0 ? 424 : 200,
          ),
        ]
      : []),
  ];
  const href = addressOf(context, entry.rel, entry.resource === null);
  const answer = `${XML_START}<D:multistatus xmlns:D="DAV:"><D:response><D:href>${href}</D:href>${parts.join('')}</D:response></D:multistatus>\n`;
  return bodyReply(answer, XML_TYPE, { status: 207 });
}

async function get(context: Context, path: string): Promise<Answer> {
  const { resource } = await entryAt(context, path);
  if (resource !== null) return fileReply(context.services, context, resource);
  throw new AppError('method-not-allowed', 'A folder is listed with PROPFIND', {
    headers: { Allow: METHODS },
  });
}

async function put(context: Context, path: string): Promise<Answer> {
  const { services, request, body } = context;
  const changer = changerOf(context);
  if (request.headers.has('content-range')) {
    throw new AppError('bad-request', 'A file is written as a whole, without Content-Range');
  }
  await requireParent(context, path);
  const held = await heldLocks(context, path, false);
  requireServed(context, path);
  const ifMatch = versionsOf(request.headers.get('if-match'));
  const { rel, isNew } = await putFile(changer, path, {
    content: body.stream(Number.MAX_SAFE_INTEGER),
    type: '',
    maxBytes: services.config.upload.max_size_bytes,
    ifMatch: ifMatch?.map((one) => one.replace(/-gz$/, '')) ?? null,
    isNew: request.headers.get('if-none-match')?.trim() === '*',
    beforeNaming: () => context.requireStanding(),
    acquire: (name) => held.acquire!(name, 'upload'),
  });
  return emptyReply(isNew ? 201 : 204, await etagAt(context, rel));
}

async function etagAt(context: Context, rel: string): Promise<Record<string, string>> {
  try {
    const { resource } = await requireEntry(changerOf(context), rel, ['read']);
    const facts = resource === null ? null : await factsOfFile(context.services, resource);
    return facts === null ? {} : { ETag: `"${facts.version}"` };
  } catch (error) {
    if (error instanceof AppError) return {};
    throw error;
  }
}

/** Throws 403 before existence is told, 409 without the folder, 405 for a folder itself. */
async function requireParent(context: Context, path: string): Promise<void> {
  const { moves } = context.services;
  await requireStake(changerOf(context), path);
  const rel = await moves.spelled(path);
  if (moves.isFolder(rel)) {
    const headers = { Allow: METHODS };
    throw new AppError('method-not-allowed', 'There is a folder of that name', { headers });
  }
  if (!moves.isFolder(folderOf(rel))) {
    throw new AppError('conflict', 'The folder it would lie in does not exist');
  }
}

async function remove(context: Context, path: string): Promise<Answer> {
  const changer = changerOf(context);
  const { rel, resource } = await requireEntry(changer, path, ['read', 'write']);
  if (resource === null && depthOf(context) !== 'infinity') {
    throw new AppError('bad-request', 'A folder is deleted with all below it: Depth infinity');
  }
  const held = await heldLocks(context, path, true);
  await deleteEntry(changer, path, held);
  await context.services.clientLocks.releaseAt(rel);
  return emptyReply(204);
}

async function makeFolder(context: Context, path: string): Promise<Answer> {
  if ((await context.body.bytes(MAX_XML_BYTES)).length > 0) {
    throw new AppError('unsupported-media-type', 'MKCOL takes no body');
  }
  const { services } = context;
  const changer = changerOf(context);
  await requireParent(context, path);
  await heldLocks(context, path, false);
  try {
    await createFolder(changer, path);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    const headers = { Allow: METHODS };
    throw new AppError('method-not-allowed', error.message, { headers });
  }
  await services.registry.refresh([path]);
  return emptyReply(201);
}

async function transfer(context: Context, path: string, kind: 'copy' | 'move'): Promise<Answer> {
  const { services, request } = context;
  const { moves, clientLocks } = services;
  const changer = changerOf(context);
  const to = destinationOf(context);
  const depth = depthOf(context);
  const source = await requireEntry(changer, path, kind === 'copy' ? ['read'] : ['read', 'write']);
  const isFolder = source.resource === null;
  if (isFolder && (depth === 1 || (kind === 'move' && depth === 0))) {
    throw new AppError('bad-request', 'A folder goes with all below it: Depth infinity');
  }
  await requireStake(changer, to);
  const target = await moves.spelled(to);
  if (target === source.rel || target.startsWith(`${source.rel}/`)) {
    throw new AppError(
      'permission-denied',
      'Source and destination are the same, or one is within the other',
    );
  }
  if (!moves.isFolder(folderOf(target))) {
    throw new AppError('conflict', 'The folder it would lie in does not exist');
  }
  const held = await heldLocks(context, kind === 'move' ? path : to, true);
  const overwrites = request.headers.get('overwrite')?.trim().toUpperCase() !== 'F';
  const isTaken = isThere(context, target);
  requireTokens(context, IfHeader.of(context), target, isTaken);
  if (isTaken) {
    if (!overwrites) throw new AppError('precondition-failed', 'There is a file of that name');
    await deleteEntry(changer, to, held);
    await clientLocks.releaseAt(target);
  }
  if (kind === 'move') {
    await moveEntry(changer, path, to, held);
    await clientLocks.releaseAt(source.rel);
  } else if (isFolder) await copyFolder(context, path, to, depth === 0, held);
  else await copyFile(changer, path, to, held);
  return emptyReply(isTaken ? 204 : 201);
}

/** Whoever may see it: nothing goes over what is there. */
function isThere({ services }: Context, rel: string): boolean {
  return (
    services.moves.isFolder(rel) ||
    services.moves.isPlainFile(rel) ||
    services.registry.list().some((one) => one.rel === rel)
  );
}

/** What the caller may read of it. */
async function copyFolder(
  context: Context,
  from: string,
  to: string,
  isShallow: boolean,
  held: HeldLocks,
): Promise<void> {
  const { services } = context;
  const changer = changerOf(context);
  let count = 0;
  const copy = async (source: string, target: string): Promise<void> => {
    await createFolder(changer, target);
    if (isShallow) return;
    for (const { rel, resource } of (await listFolder(changer, source)) ?? []) {
      if (++count > MAX_COPIED) {
        throw new AppError('too-large', `A copy has at most ${MAX_COPIED} files and folders`);
      }
      const place = target + rel.slice(source.length);
      if (resource === null) await copy(rel, place);
      else await copyFile(changer, rel, place, held);
    }
  };
  await copy(await services.moves.spelled(from), to);
}

/** Throws 423 without the tokens of the locks in the way, and 412 where the `If` header does not hold. */
async function heldLocks(context: Context, path: string, isDeep: boolean): Promise<HeldLocks> {
  const { services, user } = context;
  const { clientLocks, moves } = services;
  const header = IfHeader.of(context);
  const rel = await moves.spelled(path);
  await requireIf(context, header, rel);
  requireTokens(context, header, rel, isDeep);
  return {
    acquire: async (name, reason) => {
      // Somebody may have locked it meanwhile.
      requireTokens(context, header, name, false);
      return clientLocks.acquire(name, user.username, reason);
    },
    holds: (name) => clientLocks.has(name),
  };
}

async function requireIf(context: Context, header: IfHeader, rel: string): Promise<void> {
  const { clientLocks } = context.services;
  const { userId } = context.user;
  const isMet = await header.holds(
    (token, path) =>
      clientLocks.covering(path ?? rel).some((one) => one.token === token && one.userId === userId),
    async (path) => {
      const { ETag: tagged } = await etagAt(context, path ?? rel);
      return tagged?.slice(1, -1) ?? null;
    },
  );
  if (isMet) return;
  throw new AppError('precondition-failed', 'The If header does not hold');
}

function requireTokens(context: Context, header: IfHeader, rel: string, isDeep: boolean): void {
  const { userId } = context.user;
  context.services.clientLocks.requireTokens(rel, { tokens: header.tokens, userId, isDeep });
}

async function lock(context: Context, path: string): Promise<Answer> {
  const { services, user } = context;
  const { clientLocks, moves } = services;
  const changer = changerOf(context);
  const header = IfHeader.of(context);
  const seconds = timeoutOf(context, MAX_LOCK_SECONDS);
  const body = await bodyOf(context);
  if (body === null) {
    const rel = await moves.spelled(path);
    const { first } = header;
    const refreshed = first === null ? null : clientLocks.refresh(first, rel, user.userId, seconds);
    if (refreshed === null) {
      throw new AppError('precondition-failed', 'There is no such lock of yours to refresh');
    }
    return lockReply(context, refreshed.token, 200);
  }
  const wish = lockWish(body);
  const depth = depthOf(context);
  if (depth === 1) throw new AppError('bad-request', 'A lock has Depth 0 or infinity');
  let status = 200;
  if (!isThere(context, await moves.spelled(path))) {
    await requireParent(context, path);
    await heldLocks(context, path, false);
    requireServed(context, path);
    await putFile(changer, path, {
      content: nothing(),
      type: '',
      maxBytes: 0,
      ifMatch: null,
      isNew: true,
      beforeNaming: () => context.requireStanding(),
      acquire: (name) => clientLocks.acquire(name, user.username, 'upload'),
    });
    status = 201;
  }
  const { rel, resource } = await requireEntry(changer, path, ['write']);
  requireFileChanges(services);
  await requireIf(context, header, rel);
  const made = await clientLocks.lock({
    rel,
    isDeep: resource === null && depth === 'infinity',
    ...wish,
    userId: user.userId,
    username: user.username,
    seconds,
  });
  return lockReply(context, made.token, status);
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // An empty file.
}

function lockWish(body: Element): { readonly isShared: boolean; readonly note: string } {
  const scope = childOf(body, 'lockscope');
  const type = childOf(body, 'locktype');
  const isFit = body.namespace === DAV && body.name === 'lockinfo' && type !== undefined;
  const isShared = scope !== undefined && childOf(scope, 'shared') !== undefined;
  const isExclusive = scope !== undefined && childOf(scope, 'exclusive') !== undefined;
  if (!isFit || isShared === isExclusive || childOf(type, 'write') === undefined) {
    throw new AppError(
      'bad-request',
      'The body is no lockinfo of an exclusive or shared write lock',
    );
  }
  const owner = childOf(body, 'owner');
  const href = owner === undefined ? undefined : childOf(owner, 'href');
  const text = escaped((href ?? owner)?.text.trim().slice(0, MAX_NOTE_CHARACTERS) ?? '');
  return { isShared, note: href === undefined ? text : `<D:href>${text}</D:href>` };
}

function lockReply(context: Context, token: string, status: number): Reply {
  const found = context.services.clientLocks.find(token)!;
  const body = `${XML_START}<D:prop xmlns:D="DAV:"><D:lockdiscovery>${activeLock(context, found)}</D:lockdiscovery></D:prop>\n`;
  return bodyReply(body, XML_TYPE, { status, headers: { 'Lock-Token': `<${token}>` } });
}

async function unlock(context: Context, path: string): Promise<Answer> {
  const { services, user, request } = context;
  const { clientLocks, moves } = services;
  const named = /^\s*<([^>]+)>\s*$/.exec(request.headers.get('lock-token') ?? '')?.[1];
  if (named === undefined) throw new AppError('bad-request', 'Lock-Token names the lock in <…>');
  const rel = await moves.spelled(path);
  const found = clientLocks.covering(rel).find(({ token }) => token === named);
  if (found === undefined) throw new AppError('conflict', 'There is no such lock on this');
  if (found.userId !== user.userId) {
    throw new AppError('permission-denied', 'This is the lock of somebody else');
  }
  await clientLocks.release(found.token);
  return emptyReply(204);
}
