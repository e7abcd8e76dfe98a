/**
 * For the pages of `/docs`. Only the part of the document that they show is generated, so they are fast in a folder of
 * thousands of files and wait for no file that was never read.
 */
import type { Caller } from '../../accounts/rights/principal.ts';
import { encodePath } from '../../base/paths.ts';
import { SharedWork } from '../../base/scheduling/shared-work.ts';
import { isCrowded, ownTurn } from '../../base/scheduling/time-slice.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import { describeResources } from '../../operations/files/resources.ts';
import { kindName } from '../kind-names.ts';
import { callersApi } from './api-description.ts';
import { type DocumentOrder, openApiDocument } from './document.ts';
import { type ApiOperation, operationOf } from './api-operation.ts';
import type { JsonObject } from './models.ts';
import { type Components, isObject, textOf } from './schema-text.ts';
import type { OperationTag } from '../../http/operation-description.ts';
import type { ServerServices } from '../../http/context.ts';

export interface OperationGroup {
  readonly name: string;
  /** Null for a part of the server. */
  readonly kind: string | null;
  readonly operations: readonly OperationLink[];
}

export interface ApiChoice {
  /** Words that must all occur; `''`: everything. */
  readonly filter: string;
  readonly offset: number;
}

export interface OperationName {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
}

export interface OperationLink extends OperationName {
  readonly summary: string;
}

export interface ApiListing {
  readonly files: readonly OperationGroup[];
  readonly fileCount: number;
  readonly previous: number | null;
  readonly next: number | null;
  readonly parts: readonly OperationGroup[];
}

const PAGE_FILES = 50;
/** Then programs and files are shown with what is known. */
const MAX_WAIT_MS = 400;

const AREAS = ['', '/api', '/schema', '/ui', '/media'];

const PARTS: Readonly<Record<OperationTag, string>> = {
  search: 'Search',
  events: 'Events',
  findings: 'Findings',
  uploads: 'Uploads',
  auth: 'Accounts and sign-in',
  system: 'Server',
  admin: 'Administration',
};

const listings = new WeakMap<ServerServices, SharedWork<ApiListing>>();

export function listOperations(
  services: ServerServices,
  caller: Caller,
  choice: ApiChoice,
): Promise<ApiListing> {
  let work = listings.get(services);
  if (work === undefined) listings.set(services, (work = new SharedWork()));
  return work.get(JSON.stringify([caller, choice]), () => list(services, caller, choice));
}

async function list(
  services: ServerServices,
  caller: Caller,
  { filter, offset }: ApiChoice,
): Promise<ApiListing> {
  const api = await callersApi(services, caller);
  const holds = matcher(filter);
  const matching = api.resources.filter(({ resource }) =>
    holds(`${resource.canonical} ${resource.type} ${kindName(resource)}`),
  );
  const shown = matching.slice(offset, offset + PAGE_FILES);
  const built = operationsIn(await documentInTurn(await api.orderOf([])));
  const names = new Set(built.map(({ method, path }) => `${method} ${path}`));
  const parts = Object.entries(PARTS).map(([tag, name]) => ({
    name,
    kind: null,
    operations: built.filter(
      (one) => one.tag === tag && holds(`${name} ${one.method} ${one.path} ${one.summary}`),
    ),
  }));
  const all = await documentInTurn(await api.orderOf(shown, MAX_WAIT_MS));
  const others = operationsIn(all).filter(({ method, path }) => !names.has(`${method} ${path}`));
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

/** Null when the caller may use no such operation. */
export async function findOperation(
  services: ServerServices,
  caller: Caller,
  { method, path }: OperationName,
): Promise<ApiOperation | null> {
  const api = await callersApi(services, caller);
  const near = api.resources.filter(({ resource }) =>
    [resource.canonical, resource.extensionForm].some((name) => mayAnswer(name, path)),
  );
  const described = await describeResources(services, near, MAX_WAIT_MS);
  const document = await documentInTurn(await api.orderOf(described));
  const item = (document['paths'] as JsonObject)[path];
  const operation = isObject(item) ? item[method.toLowerCase()] : undefined;
  if (!isObject(operation)) return null;
  return operationOf({ method, path, operation }, document['components'] as Components);
}

async function documentInTurn(order: DocumentOrder): Promise<JsonObject> {
  if (isCrowded()) await ownTurn();
  return openApiDocument(order);
}

function mayAnswer(name: string, path: string): boolean {
  const address = `/${encodePath(name)}`;
  return AREAS.some((area) => path.startsWith(area + address));
}

/** Its own addresses, and for a handler those below them. */
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
