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
import { describeResources } from '../../operations/resources.ts';
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

interface ApiSources {
  readonly app: DescribeServices;
  readonly services: ServerServices;
  readonly routes: readonly Route[];
  /** Path items of a handler file from below its own address; null when its program does not report any. */
  handlerPaths(described: DescribedResource): Promise<JsonObject | null>;
}

/** Makes the document for a caller; a few milliseconds for a hundred resources. */
export async function describeApi(sources: ApiSources, caller: Caller): Promise<ApiDescription> {
  const { app, services, routes } = sources;
  const grants = await loadGrants(services.db, caller);
  const resources = caller === null ? [] : await describeResources(app, grants);
  const readsMedia = resources.some(
    ({ resource, mayRead }) => mayRead && resource.family === 'media',
  );
  const mayUpload =
    services.config.upload.enabled && grantsCover(grants, [DOCROOT_BOUNDARY], 'write');
  const usesEvents = caller !== null && (await mayUseEvents(services, caller));
  const document = openApiDocument({
    routes: await routesThatAreOn(routes, services),
    viewer: { caller, grants, readsMedia, mayUpload, usesEvents },
    resources,
    handlerPaths: await pathsOfHandlers(sources, resources),
  });
  const json = JSON.stringify(document);
  return { json, etag: sha256Hex(json).slice(0, 32) };
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
): Promise<Map<DescribedResource, JsonObject>> {
  const handlers = resources.filter(({ resource }) => resource.type === 'handler');
  const reported = await Promise.all(
    handlers.map(async (one) => [one, await sources.handlerPaths(one)] as const),
  );
  return new Map(reported.flatMap(([one, paths]) => (paths === null ? [] : [[one, paths]])));
}
