/**
 * The OpenAPI document of a caller as the server answers it: which routes are on, what the caller may use, which paths
 * handlers report (DS-190).
 */
import { grantsCover, loadGrants } from '../../auth/permissions.ts';
import type { Caller } from '../../auth/principal.ts';
import { DOCROOT_BOUNDARY } from '../../auth/resource-names.ts';
import { sha256Hex } from '../../base/ids.ts';
import { mayUseEvents } from '../../operations/event-access.ts';
import type { DescribedResource, DescribeServices } from '../../operations/resources.ts';
import { describeResources, usableResources } from '../../operations/resources.ts';
import type { ServerServices } from '../dependencies.ts';
import type { Route } from '../route-table.ts';
import { openApiDocument } from './document.ts';
import type { JsonObject } from './models.ts';

/** The document of one caller. */
export interface ApiDescription {
  /** JSON text. */
  readonly json: string;
  /** Entity tag without quotes; equal for equal documents. */
  readonly etag: string;
}

/** Where the document of a caller comes from. */
export interface ApiSources {
  readonly app: DescribeServices;
  readonly services: ServerServices;
  readonly routes: readonly Route[];
  /** Path items of a handler file from below its own address; null when its program does not report any. */
  handlerPaths(described: DescribedResource): Promise<JsonObject | null>;
}

/** Makes the document for a caller; a few milliseconds for a hundred resources. */
export async function describeApi(sources: ApiSources, caller: Caller): Promise<ApiDescription> {
  const api = await callersApi(sources, caller);
  const document = await api.documentOf(await describeResources(sources.app, api.resources));
  const json = JSON.stringify(document);
  return { json, etag: sha256Hex(json).slice(0, 32) };
}

/** What a caller may use, before it is written out. */
export interface CallersApi {
  /** Without their columns. */
  readonly resources: readonly DescribedResource[];
  /** The document with these of the resources alone. `maxWaitMs`: for what the programs of handlers report. */
  documentOf(shown: readonly DescribedResource[], maxWaitMs?: number): Promise<JsonObject>;
}

/** What the caller may use; asks no disk and no program of a handler. */
export async function callersApi(sources: ApiSources, caller: Caller): Promise<CallersApi> {
  const { app, services } = sources;
  const grants = await loadGrants(services.db, caller);
  const resources = caller === null ? [] : usableResources(app, grants);
  const readsMedia = resources.some(
    ({ resource, mayRead }) => mayRead && resource.family === 'media',
  );
  const mayUpload =
    services.config.upload.enabled && grantsCover(grants, [DOCROOT_BOUNDARY], 'write');
  const usesEvents = caller !== null && (await mayUseEvents(services, caller));
  const routes = await routesThatAreOn(sources.routes, services);
  return {
    resources,
    documentOf: async (shown, maxWaitMs) =>
      openApiDocument({
        routes,
        viewer: { caller, grants, readsMedia, mayUpload, usesEvents },
        resources: shown,
        handlerPaths: await pathsOfHandlers(sources, shown, maxWaitMs),
      }),
  };
}

/** The document of an empty document root for a superuser, with everything that can be switched on (DS-192). */
export function hostedDocument(routes: readonly Route[]): JsonObject {
  return openApiDocument({ routes, viewer: null, resources: [], handlerPaths: new Map() });
}

async function routesThatAreOn(
  routes: readonly Route[],
  services: ServerServices,
): Promise<Route[]> {
  const answers = await Promise.all(routes.map((route) => route.isOn?.(services) ?? true));
  return routes.filter((route, index) => answers[index] && (route.isListed?.(services) ?? true));
}

async function pathsOfHandlers(
  sources: ApiSources,
  resources: readonly DescribedResource[],
  maxWaitMs: number | undefined,
): Promise<Map<DescribedResource, JsonObject>> {
  const handlers = resources.filter(({ resource }) => resource.type === 'handler');
  const late = maxWaitMs === undefined ? [] : [Bun.sleep(maxWaitMs).then(() => null)];
  const reported = await Promise.all(
    handlers.map(
      async (one) => [one, await Promise.race([sources.handlerPaths(one), ...late])] as const,
    ),
  );
  return new Map(reported.flatMap(([one, paths]) => (paths === null ? [] : [[one, paths]])));
}
