/**
 * What the pages of `/docs` show of a caller's API (DS-193): the list of operations, and one of them.
 *
 * Both write out no more of the document than they show, so they open at once in a folder of thousands of files, and wait for
 * no file that was never read.
 */
import type { Caller } from '../../auth/principal.ts';
import { encodePath } from '../../base/paths.ts';
import type { Resource } from '../../docroot/registry.ts';
import { describeResources } from '../../operations/resources.ts';
import { kindName } from '../kind-names.ts';
import type { OperationTag } from '../operation-description.ts';
import { type ApiSources, callersApi } from './api-description.ts';
import { openApiDocument } from './document.ts';
import { type ApiOperation, operationOf } from './api-operation.ts';
import type { JsonObject } from './models.ts';
import { type Components, isObject, textOf } from './schema-text.ts';

/** Operations that belong together: those of a file, or of a part of the server. */
export interface OperationGroup {
  readonly name: string;
  /** What people call the kind of file; null for a part of the server. */
  readonly kind: string | null;
  readonly operations: readonly OperationLink[];
}

/** Which operations to list. */
export interface ApiChoice {
  /** Words that all have to occur; `''`: everything. */
  readonly filter: string;
  /** Files to leave out first. */
  readonly offset: number;
}

/** An operation by what its document calls it. */
export interface OperationName {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
}

/** An operation in a list. */
export interface OperationLink extends OperationName {
  readonly summary: string;
}

/** The operations of a caller, cut down to a choice. */
export interface ApiListing {
  readonly files: readonly OperationGroup[];
  /** Files that match, on all pages. */
  readonly fileCount: number;
  readonly previous: number | null;
  readonly next: number | null;
  readonly parts: readonly OperationGroup[];
}

/** Files on a page. */
const PAGE_FILES = 50;
/** Programs and files that say nothing for so long are shown by what is known without them. */
const MAX_WAIT_MS = 400;

/** What stands before the name of a file in its addresses. */
const AREAS = ['', '/api', '/schema', '/ui', '/media'];

const PARTS: Readonly<Record<OperationTag, string>> = {
  search: 'Search',
  events: 'Events',
  uploads: 'Uploads',
  auth: 'Accounts and sign-in',
  system: 'Server',
  admin: 'Administration',
};

/** The operations a caller may use. */
export async function listOperations(
  sources: ApiSources,
  caller: Caller,
  { filter, offset }: ApiChoice,
): Promise<ApiListing> {
  const api = await callersApi(sources, caller);
  const holds = matcher(filter);
  const matching = api.resources.filter(({ resource }) =>
    holds(`${resource.canonical} ${resource.type} ${kindName(resource)}`),
  );
  const shown = matching.slice(offset, offset + PAGE_FILES);
  const built = operationsIn(openApiDocument(await api.orderOf([])));
  const names = new Set(built.map(({ method, path }) => `${method} ${path}`));
  const parts = Object.entries(PARTS).map(([tag, name]) => ({
    name,
    kind: null,
    operations: built.filter(
      (one) => one.tag === tag && holds(`${name} ${one.method} ${one.path} ${one.summary}`),
    ),
  }));
  const others = operationsIn(openApiDocument(await api.orderOf(shown, MAX_WAIT_MS))).filter(
    ({ method, path }) => !names.has(`${method} ${path}`),
  );
  const files = shown.map(({ resource }) => ({
    name: resource.canonical,
    kind: kindName(resource),
    operations: others.filter(({ path }) => isOf(resource, path)),
  }));
  return {
    files,
    fileCount: matching.length,
    previous: offset > 0 ? Math.max(0, offset - PAGE_FILES) : null,
    next: matching.length > offset + PAGE_FILES ? offset + PAGE_FILES : null,
    parts: parts.filter(({ operations }) => operations.length > 0),
  };
}

/** One operation with all that is known of it; null when the caller may not use such a one. */
export async function findOperation(
  sources: ApiSources,
  caller: Caller,
  { method, path }: OperationName,
): Promise<ApiOperation | null> {
  const api = await callersApi(sources, caller);
  const near = api.resources.filter(({ resource }) =>
    [resource.canonical, resource.extensionForm].some((name) => mayAnswer(name, path)),
  );
  const described = await describeResources(sources.app, near, MAX_WAIT_MS);
  const document = openApiDocument(await api.orderOf(described));
  const item = (document['paths'] as JsonObject)[path];
  const operation = isObject(item) ? item[method.toLowerCase()] : undefined;
  if (!isObject(operation)) return null;
  return operationOf({ method, path, operation }, document['components'] as Components);
}

/** Whether a file of that name can have operations at a path. */
function mayAnswer(name: string, path: string): boolean {
  const address = `/${encodePath(name)}`;
  return AREAS.some((area) => path.startsWith(area + address));
}

/** Whether the operations at a path are those of the file: its own addresses, and below them what a handler adds. */
function isOf({ canonical, extensionForm, type }: Resource, path: string): boolean {
  return [canonical, extensionForm].some((name) => {
    const address = `/${encodePath(name)}`;
    if (type === 'handler') return `${path}/`.startsWith(`/api${address}/`);
    return AREAS.some((area) => path === area + address || path === `${area}${address}/`);
  });
}

function operationsIn({ paths }: JsonObject): (OperationLink & { readonly tag: string })[] {
  return Object.entries(paths as JsonObject).flatMap(([path, item]) =>
    Object.entries(item as JsonObject).map(([method, operation]) => {
      const { summary, tags } = operation as JsonObject;
      const tag = Array.isArray(tags) ? textOf(tags[0]) : '';
      return { method: method.toUpperCase(), path, summary: textOf(summary), tag };
    }),
  );
}

/** All words, in any order and case. */
function matcher(filter: string): (text: string) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const folded = text.toLowerCase();
    return words.every((word) => folded.includes(word));
  };
}
