/** What was changed in the rows of a dataset, and taking it back. */
import { Elysia } from 'elysia';
import { type TSchema, Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import { AppError, invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { mediaTypeOf } from '../../base/files/media-type.ts';
import { fileNameOf } from '../../base/paths.ts';
import { jsonText } from '../../base/json/json.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context, RouteRules } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { nextLink } from '../../http/link-query.ts';
import { bodyReply, emptyReply, jsonReply, type Reply } from '../../http/reply/reply.ts';
import {
  receiptOf,
  requireWritable,
  requireWritableContent,
} from '../../operations/files/datasets.ts';
import {
  findResource,
  listChanges,
  undoChanges,
  type UndoRequest,
  type UndoResult,
} from '../../operations/files/history.ts';
import {
  changeAt,
  contentAt,
  differenceOf,
  openContent,
  requireWholeFile,
  restoreContent,
} from '../../operations/files/versions.ts';
import { attachment } from '../../tables/encode/download-name.ts';
import { isObject } from '../../tables/edit/mutation.ts';
import { integerParameter } from '../../tables/read/list-parameters.ts';
import { datasetParameters } from './companions.ts';
import { askedMoment, momentFrom, timeOf } from './moments.ts';
import { requireChangesAllowed, versionsOf } from './datasets.ts';

const HISTORY_METHODS = 'GET, HEAD, OPTIONS, POST';
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_ROW_ID = Number.MAX_SAFE_INTEGER;

const cells = (description: string) =>
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], { description });
const changeModel = Type.Object(
  {
    id: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    user: Type.Union([Type.String(), Type.Null()], { description: 'null: another program' }),
    action: Type.String({
      description:
        'create, update, delete, upsert, batch or undo of rows; upload, restore, … of the file; external: another program wrote it',
    }),
    count: Type.Integer({ description: 'Rows' }),
    state: Type.String({
      description:
        '`made`; `unsure` when the server was stopped in the middle and the rows are neither',
    }),
    renumbered: Type.Boolean({
      description: 'Another program changed the file since: the rows may have other ids now',
    }),
    undoes: Type.Array(Type.Integer(), { description: 'The changes it took back' }),
    undone: Type.String({ description: 'Taken back: no, partly, all' }),
    version: Type.Union(
      [Type.Object({ size: Type.Integer(), sha256: Type.String() }), Type.Null()],
      { description: 'What the file held before is kept: `content` of the change before has it' },
    ),
    damaged: Type.Boolean({ description: 'What it did cannot be read any more' }),
    rows: Type.Array(
      Type.Object({
        _row_id: Type.Integer(),
        before: cells('Of a changed row the changed cells; null: the row is new'),
        after: cells('null: the row was deleted'),
      }),
    ),
    rows_truncated: Type.Boolean({ description: 'Ask for this `change` to see more' }),
  },
  { $id: 'RowsChange' },
);
const undoModel = Type.Object(
  {
    change: Type.Optional(Type.Integer({ description: 'This change' })),
    after: Type.Optional(Type.Integer({ description: 'All changes after this one' })),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'All changes from this moment on' }),
    ),
    content: Type.Optional(
      Type.Union([Type.Integer(), Type.String({ format: 'date-time' })], {
        description:
          'In place of these: the file becomes, byte for byte, what it was right after this change, or then',
      }),
    ),
    rows: Type.Optional(Type.Array(Type.Integer(), { description: 'Only these rows' })),
    columns: Type.Optional(
      Type.Array(Type.String(), { description: 'Of changed rows only these cells' }),
    ),
    skip_conflicts: Type.Optional(
      Type.Boolean({ description: 'Leave rows as they are that were changed since' }),
    ),
    dry_run: Type.Optional(Type.Boolean({ description: 'Change nothing' })),
  },
  { $id: 'RowsUndo' },
);
const undoneModel = Type.Object(
  {
    success: Type.Boolean(),
    dry_run: Type.Optional(Type.Boolean()),
    count: Type.Integer({ description: 'Rows' }),
    row_ids: Type.Array(Type.Integer(), { description: 'A deleted row comes back with a new id' }),
    changes: Type.Array(Type.Integer(), { description: 'What was taken back' }),
    skipped: Type.Array(Type.Object({ _row_id: Type.Integer(), reason: Type.String() })),
  },
  { $id: 'RowsUndone' },
);

const query = (name: string, description: string, schema: TSchema) =>
  ({ name, in: 'query', description, schema }) as const;

const checks = {
  access: 'user',
  rest: 'name',
  hasJsonErrors: true,
  decidesReadOnly: true,
} as const satisfies RouteRules;

export const historyRoutes = new Elysia({ name: 'history' })
  .use(lifecycle)
  .get('/_svc/history/*', ({ ask }) => historyReply(ask, ask.parameters['name'] ?? ''), {
    checks,
    describes: {
      summary: 'See what was changed in a dataset or file',
      description:
        'Newest first, for those who may read and write it. With `content` the file as it was then, with `diff` what a change did to a text. Also at `/api/<name>/history`, unless a file has that name.',
      tag: 'system',
      parameters: [
        ...datasetParameters,
        query(
          'content',
          'The bytes of the file right after this change, or at this time',
          Type.String(),
        ),
        query('diff', 'What this change did to a text, as a unified diff', Type.Integer()),
        query('change', 'This change alone, with up to 1,000 of its rows', Type.Integer()),
        query('row', 'Changes of this row', Type.Integer()),
        query('user', 'Changes by this user', Type.String()),
        query('column', 'Changes of cells of this column', Type.String()),
        query('since', 'From this moment on, RFC 3339', Type.String()),
        query('limit', `At most ${MAX_LIMIT}`, Type.Integer({ default: DEFAULT_LIMIT })),
        query('cursor', 'From the `Link` of the page before', Type.Integer()),
      ],
      answers: { 200: { description: 'The changes', schema: Type.Array(changeModel) } },
      errors: [404, 409, 410, 413, 415, 422],
    },
  })
  .post('/_svc/history/*', ({ ask }) => historyReply(ask, ask.parameters['name'] ?? ''), {
    checks,
    describes: {
      summary: 'Take changes of a dataset back',
      description:
        'A new change makes the rows what they were before. Rows that were changed since are named in a 409.',
      tag: 'system',
      parameters: datasetParameters,
      body: { schema: undoModel, required: true },
      answers: { 200: { description: 'Done and on disk', schema: undoneModel } },
      errors: [404, 405, 409, 410, 412, 413, 422, 507],
    },
  });

/** Who may change a file may see what it was. */
export async function historyReply(context: Context, name: string): Promise<Reply> {
  const { services, caller, origin, method } = context;
  const resource = await findResource(services, caller, origin, name.replace(/\/$/, ''));
  if (method === 'OPTIONS') return emptyReply(204, { Allow: HISTORY_METHODS });
  if (method === 'POST') return undo(context, resource);
  if (method === 'GET' || method === 'HEAD') return list(context, resource);
  const headers = { allow: HISTORY_METHODS };
  throw new AppError('method-not-allowed', 'Method Not Allowed', { headers });
}

async function list(context: Context, resource: Resource): Promise<Reply> {
  const content = context.queryValue('content');
  if (content !== null) return contentReply(context, resource);
  const diff = context.queryValue('diff');
  if (diff !== null) return differenceReply(context, resource, diff);
  const issues: ValidationIssue[] = [];
  const integer = (name: string, max: number): number | undefined =>
    integerParameter(context.query, name, { min: 1, max }, issues) ?? undefined;
  const limit = integer('limit', MAX_LIMIT) ?? DEFAULT_LIMIT;
  const [change, rowId, before] = ['change', 'row', 'cursor'].map((name) =>
    integer(name, MAX_ROW_ID),
  );
  const since = timeOf(context.queryValue('since') ?? undefined, ['query', 'since'], issues);
  if (issues.length > 0) throw invalidRequest(...issues);
  const [username, column] = [context.queryValue('user'), context.queryValue('column')];
  const { changes, next } = await listChanges(
    context.services,
    resource,
    {
      ...(change !== undefined && { change }),
      ...(rowId !== undefined && { rowId }),
      ...(before !== undefined && { before }),
      ...(since !== undefined && { since }),
      ...(username !== null && { username }),
      ...(column !== null && { column }),
    },
    limit,
  );
  return bodyReply(jsonText(changes), 'application/json', {
    headers: nextLink(context, next === null ? null : String(next)),
  });
}

async function contentReply(context: Context, resource: Resource): Promise<Reply> {
  const { services, user, origin } = context;
  const moment = askedMoment(context, 'content')!;
  const whole = await requireWholeFile(services, user, origin, resource);
  const then = await contentAt(services, whole.rel, await changeAt(services, whole, moment));
  const etag = then.kept?.hash.slice(0, 32);
  if (etag !== undefined && context.isNotModified(etag)) return { ...emptyReply(304), etag };
  const { size, body } = await openContent(services, then);
  const headers = {
    'Content-Disposition': attachment(fileNameOf(whole.rel)),
    'Content-Length': String(size),
    // What others uploaded is not run here.
    'Content-Security-Policy': "sandbox; default-src 'none'",
  };
  const type = mediaTypeOf(whole.rel);
  if (context.method === 'HEAD') {
    body.destroy();
    return { ...emptyReply(200, { ...headers, 'Content-Type': type }), ...(etag && { etag }) };
  }
  return bodyReply(Readable.toWeb(body) as unknown as ReadableStream<Uint8Array>, type, {
    headers,
    ...(etag !== undefined && { etag }),
  });
}

async function differenceReply(context: Context, resource: Resource, text: string): Promise<Reply> {
  const { services, user, origin } = context;
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    const msg = 'Input should be the id of a change';
    throw invalidRequest({ type: 'int_parsing', loc: ['query', 'diff'], msg, input: text });
  }
  const { rel } = await requireWholeFile(services, user, origin, resource);
  const difference = await differenceOf(services, rel, Number(text));
  return bodyReply(difference, 'text/x-diff; charset=utf-8');
}

async function undo(context: Context, resource: Resource): Promise<Reply> {
  const { services, user, origin } = context;
  const body = await context.json();
  if (isObject(body) && body['content'] !== undefined) return restore(context, resource, body);
  if (resource.kind.dataset === undefined) {
    throw new AppError('method-not-allowed', 'This file has no rows: give content', {
      headers: { allow: HISTORY_METHODS },
    });
  }
  requireWritable(services, resource, 'POST');
  requireChangesAllowed(context);
  await requireWritableContent(services, resource);
  const request = {
    ...undoRequestOf(body),
    ifMatch: versionsOf(context.request.headers.get('if-match')),
  };
  const undone = await undoChanges(services, user, origin, resource, request);
  return bodyReply(jsonText(undoneReceipt(undone)), 'application/json', {
    headers: { ETag: `"${undone.result.version}"` },
  });
}

/** What the caller is told. */
export function undoneReceipt({ result, changes, skipped }: UndoResult): object {
  const { results: _results, ...receipt } = receiptOf(result) as Record<string, unknown>;
  return {
    ...receipt,
    changes,
    skipped: skipped.map(({ rowId, reason }) => ({ _row_id: Math.abs(rowId), reason })),
  };
}

/** The whole file. */
async function restore(
  context: Context,
  resource: Resource,
  body: Readonly<Record<string, unknown>>,
): Promise<Reply> {
  const { services, user, origin } = context;
  const issues: ValidationIssue[] = [];
  for (const name of Object.keys(body).filter((one) => one !== 'content')) {
    const msg = 'With content there is nothing else to say';
    issues.push({ type: 'extra_forbidden', loc: ['body', name], msg, input: body[name] });
  }
  const moment = momentFrom(body['content'], ['body', 'content'], issues);
  if (moment === null || issues.length > 0) throw invalidRequest(...issues);
  requireChangesAllowed(context);
  const whole = await requireWholeFile(services, user, origin, resource);
  const id = await changeAt(services, whole, moment);
  const isChanged = await restoreContent(services, user, origin, whole, id);
  return jsonReply({ success: true, changed: isChanged });
}

const MEMBERS = ['change', 'after', 'since', 'rows', 'columns', 'skip_conflicts', 'dry_run'];

/** Throws `invalid-request`. */
export function undoRequestOf(body: unknown): Omit<UndoRequest, 'ifMatch'> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    const msg = 'Input should be a valid object';
    throw invalidRequest({ type: 'dict_type', loc: ['body'], msg, input: body });
  }
  const issues: ValidationIssue[] = [];
  const given = body as Record<string, unknown>;
  const refuse = (type: ValidationIssue['type'], member: string | null, msg: string): void => {
    const loc = member === null ? ['body'] : ['body', member];
    issues.push({ type, loc, msg, ...(member !== null && { input: given[member] }) });
  };
  for (const name of Object.keys(given)) {
    if (!MEMBERS.includes(name)) {
      refuse('extra_forbidden', name, `Unknown member: known are ${MEMBERS.join(', ')}`);
    }
  }
  const isId = (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) > 0;
  const flag = (name: string): boolean => {
    const value = given[name];
    if (value !== undefined && typeof value !== 'boolean') {
      refuse('bool_type', name, 'Input should be true or false');
    }
    return value === true;
  };
  const { change, after, since, rows, columns } = given;
  if ([change, after, since].filter((one) => one !== undefined).length !== 1) {
    refuse('value_error', null, 'Say what to take back: one of change, after and since');
  }
  for (const name of ['change', 'after']) {
    const value = given[name];
    if (value !== undefined && !isId(value) && !(name === 'after' && value === 0)) {
      refuse('int_type', name, 'Input should be the id of a change');
    }
  }
  if (rows !== undefined && !(Array.isArray(rows) && rows.length > 0 && rows.every(isId))) {
    refuse('list_type', 'rows', 'Input should be a list of row ids');
  }
  const areNames =
    Array.isArray(columns) && columns.length > 0 && columns.every((one) => typeof one === 'string');
  if (columns !== undefined && !areNames) {
    refuse('list_type', 'columns', 'Input should be a list of names of columns');
  }
  const moment = timeOf(since, ['body', 'since'], issues);
  const request = {
    rowIds: rows === undefined ? null : (rows as number[]),
    columns: columns === undefined ? null : (columns as string[]),
    skipsConflicts: flag('skip_conflicts'),
    isDryRun: flag('dry_run'),
  };
  if (issues.length > 0) throw invalidRequest(...issues);
  if (change !== undefined) return { ...request, what: { change: change as number } };
  if (after !== undefined) return { ...request, what: { after: after as number } };
  return { ...request, what: { since: moment! } };
}
