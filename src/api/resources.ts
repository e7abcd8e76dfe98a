/** Every path without a built-in route. Files come and go without touching any route. */
import { AppError } from '../base/errors.ts';
import { type Soon, whenThere } from '../base/work/soon.ts';
import { loadGrants } from '../accounts/rights/permissions.ts';
import type { Verb } from '../accounts/rights/principal.ts';
import { contentDisposition } from '../tables/encode/download-name.ts';
import { type Format, formatDetails, FORMATS } from '../tables/read/format.ts';
import { parseListParameters } from '../tables/read/list-parameters.ts';
import type { RowsPage } from '../tables/copy/table-cache.ts';
import type { Area } from '../docroot/registry/names.ts';
import type { Resource } from '../docroot/registry/registry.ts';
import { mayAccess, requireAccess } from '../operations/access.ts';
import {
  type ChangeRequest,
  changeRows,
  checkValues,
  DATASET_METHODS,
  type DatasetServices,
  type RowsQuery,
  findDataset,
  queryRows,
  READ_METHODS,
  readSchema,
  requireReadable,
  requireWritable,
} from '../operations/datasets.ts';
import { findByPath } from '../operations/content.ts';
import { isStillAdmitted } from '../http/hooks/admission.ts';
import { contentReply, type ContentReplyServices } from '../http/reply/content-reply.ts';
import type { Context } from '../http/context.ts';
import { datasetPageReply } from '../pages/dataset-page.ts';
import { datasetSummaryReply, wantsSummary } from '../pages/dataset-summary.ts';
import { isForm } from '../http/body/form-body.ts';
import { handlerAnswer } from '../http/handler-exchange.ts';
import { mediaPageReply } from '../pages/media-page.ts';
import { parseEntityTags, preferredType } from '../http/reply/negotiate.ts';
import { nextLink } from '../pages/next-link.ts';
import { bodyReply, emptyReply, jsonReply, type Reply } from '../http/reply/reply.ts';
import { rowFormReply, rowPageReply } from '../pages/row-page.ts';
import type { Answer, Handler } from '../http/route.ts';
import { whileAllowed } from '../http/body/standing-body.ts';
import type { HandlerServices } from '../operations/handlers.ts';

interface ResourceServices
  extends DatasetServices, HandlerServices, Pick<ContentReplyServices, 'documents'> {
  readonly config: ContentReplyServices['config'] & { readonly readonly: boolean };
}

/** A longer answer may outlast the caller's rights, which are then checked while it is sent. */
const LONG_ANSWER_ROWS = 10_000;
const NO_PARAMETERS = parseListParameters(new URLSearchParams());
const VARY = { Vary: 'Accept, Accept-Encoding' };

/** The caller is signed in. */
export function resourceHandler(services: ResourceServices): Handler {
  const answer = answerOfFile(services);
  return (context) => {
    const [first, second, ...below] = context.segments;
    const isHiding = first === 'api' && HIDING.has(second!) && below.length > 0;
    return isHiding ? hidden(answer, context) : answer(context);
  };
}

/** Below these, missing files and forbidden files are answered alike, as events are. */
const HIDING: ReadonlySet<string> = new Set(['events', 'savedsearches']);

async function hidden(answer: Handler, context: Context): Promise<Answer> {
  try {
    return await answer(context);
  } catch (error) {
    const isHidden =
      error instanceof AppError && ['not-found', 'permission-denied'].includes(error.code);
    throw isHidden ? new AppError('not-found', 'Not found.') : error;
  }
}

function answerOfFile(services: ResourceServices): Handler {
  return (context) => {
    const [family, ...rest] = context.segments;
    const name = rest.join('/');
    if (context.isMatchable && name !== '') {
      const area = AREAS.get(family!);
      if (family === 'api') {
        const answer = handlerAnswer(services, context);
        if (answer !== null) return answer;
      }
      // A path that is no name of the family may be the path of a file.
      const isInFamily = area !== undefined && services.registry.lookup(area, name) !== null;
      if (isInFamily && family === 'api') return datasetRows(services, context, name);
      if (isInFamily && family === 'schema') return datasetSchema(services, context, name);
    }
    return fileAnswer(services, context, name);
  };
}

const AREAS: ReadonlyMap<string, Area> = new Map([
  ['api', 'dataset'],
  ['schema', 'dataset'],
  ['ui', 'ui'],
  ['media', 'media'],
]);

/** A miss is 404 for callers allowed to know, else 403. */
async function fileAnswer(
  services: ResourceServices,
  context: Context,
  nameBelow: string,
): Promise<Answer> {
  const { caller, origin, method, segments } = context;
  const path = segments.join('/');
  const area = nameBelow === '' ? null : (AREAS.get(segments[0]!) ?? null);
  const name = area === null ? path : nameBelow;
  const verb = verbOf(method);
  if (!context.isMatchable) {
    await requireAccess(services, caller, origin, { name, resource: null, verb });
    throw new AppError('not-found', 'Not Found');
  }
  const resource = await findByPath(services, caller, origin, { area, name, path }, verb);
  if (area !== 'ui' || resource.family === 'content') {
    return contentReply(services, context, resource);
  }
  if (method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  const isJson = context.body.mediaType === 'application/json';
  if (method === 'POST' && resource.family === 'dataset' && (isJson || isForm(context.body))) {
    // The answering page shows the row, and the right to write does not include reading.
    await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
    if (isJson) return changeMany(services, context, resource);
    requireWritable(resource, method);
    requireChangesAllowed(services);
    return rowFormReply(services, context, resource);
  }
  requireRead(method);
  if (resource.family === 'media') return mediaPageReply(services, context, resource);
  if (context.queryValue('row') !== null) return rowPageReply(services, context, resource);
  return wantsSummary(context)
    ? datasetSummaryReply(services, context, resource)
    : datasetPageReply(services, context, resource);
}

function datasetRows(services: ResourceServices, context: Context, name: string): Soon<Reply> {
  const { caller, origin, method } = context;
  const found = findDataset(services, caller, origin, name, verbOf(method));
  return whenThere(found, (resource) => {
    if (method === 'OPTIONS') return emptyReply(204, { Allow: methodsOf(resource) });
    return method === 'GET' || method === 'HEAD'
      ? listRows(services, context, resource)
      : change(services, context, resource);
  });
}

function listRows(services: ResourceServices, context: Context, resource: Resource): Soon<Reply> {
  const parameters = context.search === '' ? NO_PARAMETERS : parseListParameters(context.search);
  const format = parameters.format ?? formatFor(context.request.headers.get('accept'));
  return queryRows(services, resource, parameters, format, (query) =>
    answerRows(services, context, query, parameters.format),
  );
}

function answerRows(
  services: ResourceServices,
  context: Context,
  query: RowsQuery,
  askedFormat: Format | null,
): Soon<Reply> {
  const etag = etagOf(query, query.table.version());
  if (context.isNotModified(etag)) return { ...emptyReply(304, VARY), etag };
  const read = services.reading.run(query.table, query.prepared, {
    // A getter: only some reads can be aborted, and making the signal costs more than most others take.
    get signal() {
      return context.request.signal;
    },
    isHead: context.method === 'HEAD',
  });
  return whenThere(read, (page) => pageReply(services, context, query, page, askedFormat));
}

function etagOf({ prepared }: RowsQuery, version: string): string {
  return `${version}.${prepared.representation}`;
}

const keptReplies = new WeakMap<RowsPage, Reply>();

function pageReply(
  services: ResourceServices,
  context: Context,
  query: RowsQuery,
  page: RowsPage,
  askedFormat: Format | null,
): Reply {
  if (page.isKept !== true || page.format !== 'json' || page.nextCursor !== null) {
    return newPageReply(services, context, query, page, askedFormat);
  }
  let reply = keptReplies.get(page);
  if (reply === undefined) {
    reply = { ...newPageReply(services, context, query, page, askedFormat), isKept: true };
    keptReplies.set(page, reply);
  }
  return reply;
}

function newPageReply(
  services: ResourceServices,
  context: Context,
  query: RowsQuery,
  page: RowsPage,
  askedFormat: Format | null,
): Reply {
  const { resource } = query;
  const body =
    page.body instanceof ReadableStream && page.total > LONG_ANSWER_ROWS
      ? whileAllowed(page.body, () => mayStillRead(services, context, resource))
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
  if (page.nextCursor !== null) Object.assign(headers, nextLink(context, page.nextCursor));
  if (page.format === 'json') return headers;
  return Object.assign(headers, downloadHeader(resource, page, askedFormat));
}

async function mayStillRead(
  { db }: ResourceServices,
  context: Context,
  resource: Resource,
): Promise<boolean> {
  if (!(await isStillAdmitted(context))) return false;
  return mayAccess(await loadGrants(db, context.caller), resource, 'read');
}

/** Spreadsheet-like answers are downloads; NDJSON only when requested by name. */
function downloadHeader(
  resource: Resource,
  page: RowsPage,
  asked: string | null,
): Record<string, string> {
  if (page.format === 'json' || (page.format === 'ndjson' && asked !== 'ndjson')) return {};
  const name = resource.canonical.split('/').slice(resource.sheet === null ? -1 : -2);
  return { 'Content-Disposition': contentDisposition(name.join('-'), page.format) };
}

/**
 * For the script of the dataset page: many rows in one write, where the API changes one at a time, and a check of
 * values before that.
 */
async function changeMany(
  services: ResourceServices,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  await requireChangeable(services, context, resource);
  const body = await context.json();
  const { action, data } = (body ?? {}) as { action?: unknown; data?: unknown };
  if (action === 'check')
    return jsonReply({ misfits: await checkValues(services, resource, data) });
  const method = action === 'update' ? 'PATCH' : 'DELETE';
  return changed(services, context, resource, { method, takesLists: true, body });
}

async function change(
  services: ResourceServices,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  await requireChangeable(services, context, resource);
  const { method } = context;
  return changed(services, context, resource, {
    method,
    body: await context.json(),
  });
}

function requireChangeable(
  services: ResourceServices,
  context: Context,
  resource: Resource,
): Promise<void> {
  requireWritable(resource, context.method);
  requireChangesAllowed(services);
  return requireReadable(services, resource);
}

async function changed(
  services: ResourceServices,
  context: Context,
  resource: Resource,
  request: Pick<ChangeRequest, 'method' | 'takesLists' | 'body'>,
): Promise<Reply> {
  const isLenient = isHandledLeniently(context.request.headers.get('prefer'));
  const result = await changeRows(services, context.user, context.origin, resource, {
    ...request,
    ifMatch: versionsOf(context.request.headers.get('if-match')),
    isLenient,
  });
  const { rowIds, version } = result;
  return jsonReply(
    { success: true, count: rowIds.length, row_ids: rowIds },
    {
      headers: {
        ETag: `"${version}"`,
        ...(isLenient && { 'Preference-Applied': 'handling=lenient' }),
      },
    },
  );
}

/**
 * `Prefer: handling=lenient` (RFC 7240, 4.4) lets undo restore a value to a column whose type changed when the value
 * left.
 */
function isHandledLeniently(prefer: string | null): boolean {
  return prefer !== null && /(?:^|[,;\s])handling\s*=\s*"?lenient\b/i.test(prefer);
}

async function datasetSchema(
  services: ResourceServices,
  context: Context,
  name: string,
): Promise<Reply> {
  const resource = await findReadOnly(services, context, name);
  if (context.method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  const { version, json } = await readSchema(services, resource);
  return bodyReply(json, 'application/json', { etag: `${version}.schema`, headers: VARY });
}

/** Whatever the caller's rights. */
async function findReadOnly(
  services: ResourceServices,
  { caller, origin, method }: Context,
  name: string,
): Promise<Resource> {
  const resource = await findDataset(services, caller, origin, name, verbOf(method));
  requireRead(method);
  return resource;
}

function requireRead(method: string): void {
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

/** Of every strong tag the part that is the file version. */
function versionsOf(ifMatch: string | null): string[] | null {
  if (ifMatch === null) return null;
  const tags = parseEntityTags(ifMatch);
  if (tags === '*') return ['*'];
  const versions = tags.flatMap(({ value, isWeak }) => (isWeak ? [] : [value.split('.')[0]!]));
  // A quoted star is a version of no file, not the star that matches all.
  return versions.filter((version) => version !== '*');
}

function methodsOf(resource: Resource): string {
  const { dataset } = resource.kind;
  const isWritable = dataset?.edit && !dataset.readOnlyReason?.(resource.rel);
  return isWritable ? DATASET_METHODS : READ_METHODS;
}

/** For files, read-only mode is reported after existence and method. */
function requireChangesAllowed({ config }: ResourceServices): void {
  if (!config.readonly) return;
  throw new AppError('read-only', 'Server is in read-only mode', {
    headers: { allow: READ_METHODS },
  });
}

function verbOf(method: string): Verb {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
}
