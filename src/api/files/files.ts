/** Files and folders as a whole, and the trash. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { timestamp } from '../../base/clock.ts';
import { versionOf } from '../../docroot/documents.ts';
import { isUtf8Text } from '../../base/text/text-bytes.ts';
import { fileNameOf } from '../../base/paths.ts';
import { pageAddress } from '../../docroot/registry/addresses.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { isForm } from '../../http/body/form-body.ts';
import { jsonReply, emptyReply, redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  type Changer,
  createFolder,
  deleteEntry,
  factsOfFile,
  fileRights,
  type FolderEntry,
  listFolder,
  moveEntry,
  purgeEntry,
  putFile,
  requireEntry,
  requireFileChanges,
  requireStake,
  restoreEntry,
} from '../../operations/files/file-changes.ts';
import { versionsOf } from './datasets.ts';

const fileModel = Type.Object(
  {
    path: Type.String({ description: 'In the document root; empty for the root itself' }),
    name: Type.String(),
    is_folder: Type.Boolean(),
    type: Type.Union([Type.String(), Type.Null()], { description: 'Of a file: csv, markdown, …' }),
    address: Type.Union([Type.String(), Type.Null()], { description: 'Of its page' }),
    size: Type.Union([Type.Integer(), Type.Null()], { description: 'Bytes' }),
    modified: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    version: Type.Union([Type.String(), Type.Null()], { description: 'For `If-Match`' }),
    may_move: Type.Boolean({ description: 'You may rename, move and delete it' }),
    may_write: Type.Boolean({ description: 'You may replace its content' }),
  },
  { $id: 'File' },
);
const listingModel = Type.Object(
  {
    path: Type.String(),
    may_place: Type.Boolean({ description: 'You may give new names in this folder' }),
    entries: Type.Array(fileModel, { description: 'Folders first' }),
  },
  { $id: 'FolderListing' },
);
const textModel = Type.Composite(
  [fileModel, Type.Object({ text: Type.String({ description: 'The whole file, UTF-8' }) })],
  { $id: 'FileText' },
);
const changeModel = Type.Union(
  [
    Type.Object({ action: Type.Literal('create_folder') }),
    Type.Object({
      action: Type.Literal('move', { description: 'Or rename' }),
      to: Type.String({ description: 'The new path; nothing may be there' }),
    }),
  ],
  { $id: 'FileChange' },
);
export const trashModel = Type.Object(
  {
    id: Type.String(),
    path: Type.String({ description: 'Where it was' }),
    is_folder: Type.Boolean(),
    bytes: Type.Integer(),
    files: Type.Integer(),
    deleted_at: Type.String({ format: 'date-time' }),
    deleted_by: Type.String(),
  },
  { $id: 'TrashEntry' },
);
const restoreModel = Type.Object(
  { to: Type.Optional(Type.String({ description: 'Instead of where it was' })) },
  { $id: 'TrashRestore' },
);

const path = [
  {
    name: 'path',
    in: 'path',
    required: true,
    description: 'Of the file or folder in the document root, with its extension',
    schema: Type.String(),
  },
] as const;

const checks = {
  access: 'user',
  hasJsonErrors: true,
  decidesReadOnly: true,
} as const satisfies RouteRules;
const withPath = { ...checks, rest: 'path' } as const;
/** Contents of any size go over `/api/uploads` and WebDAV; this much may be repeated under an `Idempotency-Key`. */
const MAX_PUT_BYTES = 64 * 1024 * 1024;

export const fileRoutes = new Elysia({ name: 'files' })
  .use(lifecycle)
  .get('/_svc/files', ({ ask }) => show(ask, ''), {
    checks,
    describes: {
      summary: 'List the top folder',
      tag: 'uploads',
      answers: { 200: { description: 'What you may see in it', schema: listingModel } },
    },
  })
  .get('/_svc/files/*', ({ ask }) => show(ask, pathOf(ask)), {
    checks: withPath,
    describes: {
      summary: 'List a folder, or look at a file',
      description: 'Of a file its facts; `text=true` adds the whole text of a text file.',
      tag: 'uploads',
      parameters: [
        ...path,
        { name: 'text', in: 'query', description: 'With its text', schema: Type.Boolean() },
      ],
      answers: {
        200: {
          description: 'The folder or the file',
          schema: Type.Union([listingModel, fileModel, textModel]),
        },
      },
      errors: [404, 413, 415],
    },
  })
  .put('/_svc/files/*', ({ ask }) => put(ask), {
    checks: {
      ...withPath,
      body: { maxBytes: MAX_PUT_BYTES },
      repeats: (ask) => requireStake(changerOf(ask), pathOf(ask)),
    },
    describes: {
      summary: 'Write a file as a whole',
      description:
        'In one step: the file is the new one or stays. A new file needs the right to upload there.',
      tag: 'uploads',
      parameters: [
        ...path,
        {
          name: 'If-Match',
          in: 'header',
          description: 'Refuse when the file has another version',
          schema: Type.String(),
        },
        {
          name: 'If-None-Match',
          in: 'header',
          description: '`*`: refuse when there is such a file',
          schema: Type.String(),
        },
      ],
      body: {
        mediaType: 'application/octet-stream',
        required: true,
        schema: Type.String({ format: 'binary' }),
      },
      answers: {
        200: { description: 'Replaced and on disk, with an `ETag`', schema: fileModel },
        201: { description: 'Created and on disk', schema: fileModel },
      },
      errors: [400, 404, 409, 412, 413, 507],
    },
  })
  .post('/_svc/files/*', ({ ask }) => change(ask), {
    checks: { ...withPath, repeats: (ask) => requireStake(changerOf(ask), pathOf(ask)) },
    describes: {
      summary: 'Make a folder; rename or move a file or folder',
      description:
        'Companions, row ids and history go along; rights stay with the addresses. Nothing is ever overwritten.',
      tag: 'uploads',
      parameters: path,
      body: { schema: changeModel, required: true },
      answers: { 201: { description: 'Done and on disk', schema: fileModel } },
      errors: [400, 404, 409, 413, 422, 507],
    },
  })
  .delete('/_svc/files/*', ({ ask }) => remove(ask), {
    checks: { ...withPath, repeats: (ask) => requireStake(changerOf(ask), pathOf(ask)) },
    describes: {
      summary: 'Delete a file or folder into the trash',
      tag: 'uploads',
      parameters: path,
      answers: { 200: { description: 'Its entry in the trash', schema: trashModel } },
      errors: [400, 404, 409, 413, 507],
    },
  })
  .post('/_svc/trash/:id', ({ ask }) => restore(ask), {
    checks,
    describes: {
      summary: 'Restore from the trash',
      tag: 'uploads',
      body: { schema: restoreModel, required: false },
      answers: { 200: { description: 'Where it is now', schema: fileModel } },
      errors: [400, 404, 409, 422, 507],
    },
  })
  .delete(
    '/_svc/trash/:id',
    async ({ ask }) => {
      await purgeEntry(changerOf(ask), ask.parameters['id'] ?? '');
      return emptyReply(204);
    },
    {
      checks,
      describes: {
        summary: 'Delete from the trash, for good',
        description: 'For superusers.',
        tag: 'uploads',
        answers: { 204: { description: 'Gone', schema: null } },
        errors: [404],
      },
    },
  );

export function changerOf({ services, user, origin }: Context): Changer {
  return { services, user, origin };
}

function pathOf({ parameters }: Context): string {
  return (parameters['path'] ?? '').replace(/\/$/, '');
}

async function show(context: Context, path: string): Promise<Reply> {
  const { services, caller } = context;
  const changer = changerOf(context);
  const entries = await listFolder(changer, path);
  if (entries !== null && (path === '' || !(await isFile(changer, path)))) {
    const { mayPlace } = (await fileRights(services, caller))({ rel: path, resource: null });
    const shown = await Promise.all(entries.map((entry) => viewOf(changer, entry)));
    return jsonReply({ path, may_place: mayPlace, entries: shown });
  }
  const entry = await requireEntry(changer, path, ['read']);
  const view = await viewOf(changer, entry);
  const headers = { Vary: 'Accept' };
  if (context.queryValue('text') !== 'true') return jsonReply(view, { headers });
  const { text, version } = await readText(changer, entry);
  return jsonReply({ ...view, version, text }, { headers, etag: version });
}

async function isFile({ services }: Changer, path: string): Promise<boolean> {
  return services.registry.list().some(({ rel }) => rel.normalize('NFC') === path);
}

/** Throws `unsupported-media-type` for what is no UTF-8 text, and `too-large`. */
export async function readText(
  { services }: Changer,
  { rel, resource }: FolderEntry,
): Promise<{ readonly text: string; readonly version: string }> {
  if (resource === null || resource.type === 'handler')
    throw new AppError('not-found', 'Not Found');
  const file = await services.documents.open(resource);
  try {
    const most = services.config.files.max_text_bytes;
    if (file.size > most) {
      throw new AppError(
        'too-large',
        `'${rel}' is larger than ${most} bytes (files.max_text_bytes)`,
      );
    }
    const bytes = await file.read(0, file.size);
    if (bytes.includes(0) || !isUtf8Text(bytes)) {
      throw new AppError('unsupported-media-type', `'${rel}' is no text in UTF-8`);
    }
    return {
      text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
      version: versionOf(file.stamp),
    };
  } finally {
    await file.close();
  }
}

async function put(context: Context): Promise<Reply> {
  const { services, request, body } = context;
  const changer = changerOf(context);
  const path = pathOf(context);
  const ifMatch = request.headers.get('if-match');
  const most = Math.min(services.config.upload.max_size_bytes, context.maxBodyBytes);
  const { rel, isNew } = await putFile(changer, path, {
    content: body.stream(Number.MAX_SAFE_INTEGER),
    type: body.mediaType,
    maxBytes: most,
    // The version of a compressed answer is that of the file.
    ifMatch: versionsOf(ifMatch)?.map((one) => one.replace(/-gz$/, '')) ?? null,
    isNew: request.headers.get('if-none-match')?.trim() === '*',
    beforeNaming: () => context.requireStanding(),
  });
  return entryReply(changer, rel, isNew ? 201 : 200);
}

async function change(context: Context): Promise<Reply> {
  const changer = changerOf(context);
  const path = pathOf(context);
  await requireStake(changer, path);
  requireFileChanges(context.services);
  const given = await context.json();
  const { action, to } = (given ?? {}) as { action?: unknown; to?: unknown };
  if (action === 'create_folder') {
    await createFolder(changer, path);
    return entryReply(changer, path, 201);
  }
  if (action !== 'move') {
    const msg = 'Input should be create_folder or move';
    throw invalidRequest({ type: 'enum', loc: ['body', 'action'], msg, input: action });
  }
  const target = await moveEntry(changer, path, textAt(to, 'to'));
  return entryReply(changer, target, 201);
}

async function remove(context: Context): Promise<Reply> {
  return jsonReply(trashView(await deleteEntry(changerOf(context), pathOf(context))));
}

async function restore(context: Context): Promise<Reply> {
  const changer = changerOf(context);
  requireFileChanges(context.services);
  const id = context.parameters['id'] ?? '';
  if (isForm(context.body)) {
    await restoreEntry(changer, id, null);
    return redirectReply('/_svc/trash', 303);
  }
  const isEmpty = context.request.body === null;
  const given = (isEmpty ? {} : ((await context.json()) ?? {})) as { to?: unknown };
  const to = given.to === undefined || given.to === null ? null : textAt(given.to, 'to');
  return entryReply(changer, await restoreEntry(changer, id, to), 200);
}

function textAt(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '')
    return value.replace(/^\/|\/$/g, '').normalize('NFC');
  const msg = 'Input should be a path in the document root';
  throw invalidRequest({ type: 'string_type', loc: ['body', name], msg, input: value });
}

/** What is there now, to who may read it; else its path alone. */
async function entryReply(changer: Changer, rel: string, status: number): Promise<Reply> {
  let entry: FolderEntry;
  try {
    entry = await requireEntry(changer, rel, ['read']);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    entry = { rel, resource: null };
  }
  const view = await viewOf(changer, entry);
  return jsonReply(view, { status, ...(view.version !== null && { etag: view.version }) });
}

async function viewOf(changer: Changer, { rel, resource }: FolderEntry) {
  const { services, user } = changer;
  const facts = resource === null ? null : await factsOfFile(services, resource);
  const rights = (await fileRights(services, user))({ rel, resource });
  return {
    path: rel,
    name: fileNameOf(rel),
    is_folder: resource === null,
    type: resource?.type ?? null,
    address: addressOf(services, rel),
    size: facts?.size ?? null,
    modified: facts === null ? null : timestamp(facts.modifiedMs),
    version: facts?.version ?? null,
    may_move: rights.mayMove,
    may_write: rights.mayWrite,
  };
}

function addressOf({ registry }: Changer['services'], rel: string): string | null {
  const own = registry.get(rel) ?? registry.list().find((one) => one.rel === rel) ?? null;
  return own === null ? null : pageAddress(own, own.canonical);
}

export function trashView({
  id,
  rel,
  isFolder,
  bytes,
  files,
  deletedAt,
  deletedBy,
}: {
  readonly id: string;
  readonly rel: string;
  readonly isFolder: boolean;
  readonly bytes: number;
  readonly files: number;
  readonly deletedAt: string;
  readonly deletedBy: string;
}) {
  return {
    id,
    path: rel,
    is_folder: isFolder,
    bytes,
    files,
    deleted_at: deletedAt,
    deleted_by: deletedBy,
  };
}
