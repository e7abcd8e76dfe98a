import { AppError, invalidRequest, mismatch } from '../../base/errors.ts';
import { currentPerson } from '../../base/scheduling/current-person.ts';
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import type { Verb } from '../../accounts/rights/principal.ts';
import { contentDisposition } from '../../tables/encode/download-name.ts';
import { type Format, formatDetails, FORMATS } from '../../tables/read/format.ts';
import { parseListParameters } from '../../tables/read/list-parameters.ts';
import type { RowsPage } from '../../tables/copy/table-cache.ts';
import { looksAtRows } from '../../tables/edit/change-request.ts';
import { isObject } from '../../tables/edit/mutation.ts';
import { stemNameOf } from '../../docroot/registry/names.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { mayStillRead as mayStill, requireAccess } from '../../operations/access.ts';
import { readOnlyReason } from '../../operations/files/resources.ts';
import {
  type ChangeRequest,
  changeRows,
  checkValues,
  DATASET_METHODS,
  type RowsQuery,
  findDataset,
  queryRows,
  READ_METHODS,
  readSchema,
  receiptOf,
  requireWritable,
  requireWritableContent,
  ROW_METHODS,
} from '../../operations/files/datasets.ts';
import { isStillAdmitted } from '../../http/hooks/admission.ts';
import { beginChange, bodyHash } from '../../http/hooks/idempotency.ts';
import { requireKnownParameters } from '../../http/hooks/known-parameters.ts';
import type { Context } from '../../http/context.ts';
import {
  acceptsGzip,
  isTextLike,
  parseEntityTags,
  preferredType,
} from '../../http/reply/negotiate.ts';
import { closeWhenSent, rangedAnswer } from '../../http/reply/ranged-reply.ts';
import { nextLink } from '../../http/link-query.ts';
import type { Moment } from '../../operations/files/versions.ts';
import { askedMoment } from './moments.ts';
import {
  bodyReply,
  emptyReply,
  jsonReply,
  type Reply,
  type Answer,
} from '../../http/reply/reply.ts';
import { whileAllowed } from '../../http/reply/outgoing-stream.ts';

/** Past it the caller's rights are checked while it is sent. */
const LONG_ANSWER_ROWS = 10_000;
const NO_PARAMETERS = parseListParameters(new URLSearchParams());
const LIST_PARAMETERS = [
  'limit',
  'offset',
  'cursor',
  'sort',
  'order',
  'filter',
  'q',
  'columns',
  'format',
  'at',
];
const VARY = { Vary: 'Accept, Accept-Encoding' };

export async function datasetRows(context: Context, name: string): Promise<Answer> {
  const { services, caller, origin, method } = context;
  const request = { name, verb: verbOf(method), forLinks: 'rows' } as const;
  const resource = await findDataset(services, caller, origin, request);
  if (method === 'OPTIONS') return emptyReply(204, { Allow: methodsOf(context, resource) });
  return method === 'GET' || method === 'HEAD'
    ? listRows(context, resource)
    : change(context, resource);
}

export interface RowAddress {
  readonly resource: Resource;
  /** Digits. */
  readonly id: string;
  /** The path after `/api/`, as typed. */
  readonly name: string;
  readonly path: string;
}

export async function datasetRow(context: Context, address: RowAddress): Promise<Reply> {
  const { services, caller, origin, method } = context;
  const { name, path: alsoNamed } = address;
  const verb = verbOf(method);
  const request = { name, alsoNamed, resource: address.resource, verb, forLinks: 'rows' } as const;
  const resource = await requireAccess(services, caller, origin, request);
  if (method === 'OPTIONS') {
    const isFixed = methodsOf(context, resource) === READ_METHODS;
    return emptyReply(204, { Allow: isFixed ? READ_METHODS : ROW_METHODS });
  }
  const found = { ...address, resource };
  return verb === 'read' ? readRow(context, found) : changeRow(context, found);
}

async function readRow(context: Context, { resource, id }: RowAddress): Promise<Reply> {
  requireKnownParameters(context, ['columns', 'at']);
  const moment = await allowedMoment(context, resource);
  const { columns } = parseListParameters(context.search);
  const parameters = { ...NO_PARAMETERS, filter: `{"_row_id":${id}}`, columns };
  const use = async (query: RowsQuery): Promise<Reply> => {
    const page = await context.services.reading.run(query.table, query.prepared, {});
    const text = await new Response(page.body).text();
    if (text === '') throw noRow(id);
    const etag = etagOf(query, page.version);
    if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
    return bodyReply(text.trimEnd(), 'application/json', { etag, headers: VARY });
  };
  return queryRows(context.services, resource, parameters, 'ndjson', use, moment);
}

/** Of `?at=`, or what the page calls it: who may change the rows may see what they were. */
export function allowedMoment(
  context: Context,
  resource: Resource,
  name = 'at',
): MaybePromise<Moment | null> {
  const moment = context.search.includes(`${name}=`) ? askedMoment(context, name) : null;
  if (moment === null) return null;
  const { services, caller, origin } = context;
  const access = { name: resource.canonical, resource, verb: 'write' } as const;
  return whenResolved(requireAccess(services, caller, origin, access), () => moment);
}

async function changeRow(context: Context, { resource, id }: RowAddress): Promise<Reply> {
  const { method } = context;
  requireWritable(context.services, resource, 'PATCH');
  if (method !== 'PATCH' && method !== 'DELETE') {
    const headers = { allow: ROW_METHODS };
    throw new AppError('method-not-allowed', 'Method Not Allowed', { headers });
  }
  requireChangesAllowed(context);
  await requireWritableContent(context.services, resource);
  const hash = await bodyHash(context);
  const body =
    method === 'DELETE'
      ? { action: 'delete', data: { _row_id: id } }
      : { action: 'update', data: rowData(await context.json(), id) };
  if (id === '0') throw noRow(id);
  return changed(context, resource, { method, body, hash });
}

function noRow(id: string): AppError {
  return new AppError('not-found', `Row ${id} not found`);
}

/** Alone, or as those write them who change rows by the dataset's address. */
function rowData(body: unknown, id: string): unknown {
  if (!isObject(body)) throw mismatch('update data must be an object');
  // No cell is an object, so this is no row with columns of these names.
  const values = body['action'] === 'update' && isObject(body['data']) ? body['data'] : body;
  const { _row_id: named = id } = values;
  if (String(named) === id) return { ...values, _row_id: id };
  throw mismatch(`_row_id must be ${id}, as in the address`);
}

function listRows(context: Context, resource: Resource): MaybePromise<Answer> {
  requireKnownParameters(context, LIST_PARAMETERS);
  const parameters = context.search === '' ? NO_PARAMETERS : parseListParameters(context.search);
  const format = parameters.format ?? formatFor(context.request.headers.get('accept'));
  return whenResolved(allowedMoment(context, resource), (moment) =>
    queryRows(
      context.services,
      resource,
      parameters,
      format,
      (query) => answerRows(context, query, parameters.format),
      moment,
    ),
  );
}

function answerRows(
  context: Context,
  query: RowsQuery,
  askedFormat: Format | null,
): MaybePromise<Answer> {
  const etag = etagOf(query, query.table.version());
  if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
  if (hasRanges(context, query.prepared.format)) {
    return exportReply(context, query, etag, askedFormat);
  }
  const read = readPage(context, query, context.method === 'HEAD');
  return whenResolved(read, (page) => pageReply(context, query, page, askedFormat));
}

function readPage(context: Context, query: RowsQuery, isHead: boolean): MaybePromise<RowsPage> {
  return context.services.reading.run(query.table, query.prepared, {
    // A getter: making the signal costs more than most reads take.
    get signal() {
      return context.request.signal;
    },
    isHead,
  });
}

/** A compressed answer has none, unless parts are asked for. */
function hasRanges({ request: { headers } }: Context, format: Format): boolean {
  if (format === 'json') return false;
  const isCompressed =
    isTextLike(formatDetails[format].mediaType) && acceptsGzip(headers.get('accept-encoding'));
  return !isCompressed || headers.has('range');
}

/** Made first, if it is not too large: it then has a length and ranges. */
async function exportReply(
  context: Context,
  query: RowsQuery,
  etag: string,
  askedFormat: Format | null,
): Promise<Answer> {
  const { exports } = context.services;
  const { resource } = query;
  const prefix = `${resource.rel}\0${resource.sheet ?? ''}\0`;
  const made = await exports.get(prefix + etag, currentPerson(), async () => {
    const { body, ...page } = await readPage(context, query, false);
    const stream = body instanceof ReadableStream ? body : new Response(body).body!;
    return { tag: prefix + etagOf(query, page.version), facts: page, body: stream };
  });
  const page = { ...made.facts, body: null };
  const headers = {
    'Content-Type': page.mediaType,
    ...pageHeaders(context, resource, page, askedFormat),
  };
  const madeEtag = etagOf(query, page.version);
  if ('file' in made) {
    const { file } = made;
    const { answer, needs } = await rangedAnswer(context, {
      file,
      isUnchanged: () => true,
      etag: madeEtag,
      headers: { ...headers, 'Accept-Ranges': 'bytes' },
      mayCompress: false,
    });
    await closeWhenSent(file, needs);
    return answer;
  }
  const isHead = context.method === 'HEAD';
  if (isHead) await made.body.cancel();
  const body = isHead ? null : whileAllowed(made.body, () => mayStillRead(context, resource));
  return { status: 200, headers, body, etag: madeEtag };
}

function etagOf({ tag }: RowsQuery, version: string): string {
  return `${version}.${tag}`;
}

const keptReplies = new WeakMap<RowsPage, Reply>();

function pageReply(
  context: Context,
  query: RowsQuery,
  page: RowsPage,
  askedFormat: Format | null,
): Reply {
  const isShared = query.resource.view === undefined && page.isKept === true;
  if (!isShared || page.format !== 'json' || page.nextCursor !== null) {
    return newPageReply(context, query, page, askedFormat);
  }
  let reply = keptReplies.get(page);
  if (reply === undefined) {
    reply = { ...newPageReply(context, query, page, askedFormat), isKept: true };
    keptReplies.set(page, reply);
  }
  return reply;
}

function newPageReply(
  context: Context,
  query: RowsQuery,
  page: RowsPage,
  askedFormat: Format | null,
): Reply {
  const { resource } = query;
  const body =
    page.body instanceof ReadableStream && page.total > LONG_ANSWER_ROWS
      ? whileAllowed(page.body, () => mayStillRead(context, resource))
      : page.body;
  return bodyReply(body, page.mediaType, {
    etag: etagOf(query, page.version),
    headers: pageHeaders(context, resource, page, askedFormat),
  });
}

function pageHeaders(
  context: Context,
  resource: Resource,
  page: RowsPage,
  askedFormat: Format | null,
): Record<string, string> {
  const headers: Record<string, string> = { ...VARY, 'X-Total-Count': String(page.total) };
  // A cursor holds values and a digest of the filter.
  if (page.nextCursor !== null && resource.view === undefined) {
    Object.assign(headers, nextLink(context, page.nextCursor));
  }
  if (page.format === 'json') return headers;
  return Object.assign(headers, downloadHeader(resource, page, askedFormat));
}

async function mayStillRead(context: Context, resource: Resource): Promise<boolean> {
  if (!(await isStillAdmitted(context))) return false;
  return mayStill(context.services, context.caller, resource, 'rows');
}

/** NDJSON only when requested by name. */
function downloadHeader(
  resource: Resource,
  page: RowsPage,
  asked: string | null,
): Record<string, string> {
  if (page.format === 'json' || (page.format === 'ndjson' && asked !== 'ndjson')) return {};
  const name = stemNameOf(resource)
    .split('/')
    .slice(resource.sheet === null ? -1 : -2);
  return { 'Content-Disposition': contentDisposition(name.join('-'), page.format) };
}

/** Of the dataset page's script: many rows in one write, and a check of values before. */
export async function changeMany(context: Context, resource: Resource): Promise<Reply> {
  await requireChangeable(context, resource);
  const hash = await bodyHash(context);
  const body = await context.json();
  const { action, data } = (body ?? {}) as { action?: unknown; data?: unknown };
  if (action === 'check')
    return jsonReply({ misfits: await checkValues(context.services, resource, data) });
  const method = action === 'update' ? 'PATCH' : 'DELETE';
  return changed(context, resource, { method, body, hash });
}

async function change(context: Context, resource: Resource): Promise<Reply> {
  await requireChangeable(context, resource);
  const { method } = context;
  const hash = await bodyHash(context);
  return changed(context, resource, { method, hash, body: await context.json() });
}

function requireChangeable(context: Context, resource: Resource): Promise<void> {
  requireWritable(context.services, resource, context.method);
  requireChangesAllowed(context);
  return requireWritableContent(context.services, resource);
}

async function changed(
  context: Context,
  resource: Resource,
  request: Pick<ChangeRequest, 'method' | 'body'> & { readonly hash: string | null },
): Promise<Reply> {
  const isLenient = isHandledLeniently(context.request.headers.get('prefer'));
  const body =
    isDryRun(context) && isObject(request.body) ? { ...request.body, dry_run: true } : request.body;
  // As `changeRows` does, but before an answer is repeated.
  if (looksAtRows(body)) {
    const { services, caller, origin } = context;
    const { canonical: name } = resource;
    await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
  }
  const repeated = await beginChange(context, request.hash);
  if (repeated !== null) return repeated;
  const result = await changeRows(context.services, context.user, context.origin, resource, {
    ...request,
    body,
    ifMatch: versionsOf(context.request.headers.get('if-match')),
    isLenient,
  });
  return jsonReply(receiptOf(result), {
    headers: {
      ETag: `"${result.version}"`,
      ...(isLenient && { 'Preference-Applied': 'handling=lenient' }),
    },
  });
}

function isDryRun(context: Context): boolean {
  requireKnownParameters(context, ['dry_run']);
  const input = context.queryValue('dry_run');
  if (input === null || input === '0' || input === 'false') return false;
  if (input === '1' || input === 'true') return true;
  const msg = 'Input should be 1 or 0';
  throw invalidRequest({ type: 'bool_parsing', loc: ['query', 'dry_run'], msg, input });
}

/**
 * `Prefer: handling=lenient` (RFC 7240, 4.4) lets undo restore a value to a column whose type changed when the value
 * left.
 */
function isHandledLeniently(prefer: string | null): boolean {
  return prefer !== null && /(?:^|[,;\s])handling\s*=\s*"?lenient\b/i.test(prefer);
}

export async function datasetSchema(context: Context, name: string): Promise<Reply> {
  const resource = await findReadOnly(context, name);
  if (context.method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  const moment = await allowedMoment(context, resource);
  const { version, json } = await readSchema(context.services, resource, moment);
  return bodyReply(json, 'application/json', { etag: `${version}.schema`, headers: VARY });
}

/** Whatever the caller's rights. */
async function findReadOnly(
  { services, caller, origin, method }: Context,
  name: string,
): Promise<Resource> {
  const request = { name, verb: verbOf(method), forLinks: 'rows' } as const;
  const resource = await findDataset(services, caller, origin, request);
  requireRead(method);
  return resource;
}

export function requireRead(method: string): void {
  if (verbOf(method) === 'read') return;
  throw new AppError('method-not-allowed', 'Method Not Allowed', {
    headers: { allow: READ_METHODS },
  });
}

const FORMAT_TYPES = FORMATS.map((format) => formatDetails[format].mediaType.split(';')[0]!);

/** JSON when the `Accept` names no format of ours. */
function formatFor(accept: string | null): Format {
  if (accept === null || accept === '*/*') return 'json';
  const preferred = preferredType(accept, FORMAT_TYPES);
  return preferred === null ? 'json' : FORMATS[FORMAT_TYPES.indexOf(preferred)]!;
}

/** The part of each strong tag that is the file version. */
export function versionsOf(ifMatch: string | null): string[] | null {
  if (ifMatch === null) return null;
  const tags = parseEntityTags(ifMatch);
  if (tags === '*') return ['*'];
  const versions = tags.flatMap(({ value, isWeak }) => (isWeak ? [] : [value.split('.')[0]!]));
  // A quoted star is a version of no file, not the star that matches all.
  return versions.filter((version) => version !== '*');
}

function methodsOf({ services }: Context, resource: Resource): string {
  return readOnlyReason(services, resource) === null ? DATASET_METHODS : READ_METHODS;
}

/** For files, read-only mode is reported after existence and method. */
export function requireChangesAllowed({ services }: Context): void {
  if (!services.config.readonly) return;
  throw new AppError('read-only', 'Server is in read-only mode', {
    headers: { allow: READ_METHODS },
  });
}

export function verbOf(method: string): Verb {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
}
