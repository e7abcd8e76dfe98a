/**
 * The OpenAPI document of a caller as the server answers it: which routes are on, what the caller may use, which paths
 * handlers report (DS-190).
 */
import { grantsCover, loadGrants } from '../../auth/permissions.ts';
import type { Caller } from '../../auth/principal.ts';
import { DOCROOT_BOUNDARY } from '../../auth/resource-names.ts';
import { TimeSlice } from '../../base/time-slice.ts';
import { mayUseEvents } from '../../operations/event-access.ts';
import type { DescribedResource, DescribeServices } from '../../operations/resources.ts';
import { describeResources, usableResources } from '../../operations/resources.ts';
import type { ServerServices } from '../dependencies.ts';
import type { Route } from '../route-table.ts';
import { type DocumentOrder, openApiDocument, openApiText } from './document.ts';
import type { JsonObject } from './models.ts';

/** The document of one caller. */
export interface ApiDescription {
  /** JSON text in UTF-8, in pieces. */
  readonly pieces: readonly Uint8Array[];
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

/** Characters of a piece: an answer that has no more is sent as one. */
const PIECE = 256 * 1024;

/** Makes the document for a caller; a few milliseconds for a hundred resources, in slices for thousands. */
export async function describeApi(sources: ApiSources, caller: Caller): Promise<ApiDescription> {
  const api = await callersApi(sources, caller);
  const order = await api.orderOf(await describeResources(sources.app, api.resources));
  const slice = new TimeSlice();
  const encoder = new TextEncoder();
  const hash = new Bun.CryptoHasher('sha256');
  const pieces: Uint8Array[] = [];
  let gathered = '';
  const finishPiece = (): void => {
    const bytes = encoder.encode(gathered);
    hash.update(bytes);
    pieces.push(bytes);
    gathered = '';
  };
  for (const text of openApiText(order)) {
    gathered += text;
    if (gathered.length >= PIECE) finishPiece();
    if (slice.isOver) await slice.rest();
  }
  finishPiece();
  return { pieces, etag: hash.digest('hex').slice(0, 32) };
}

/** What a caller may use, before it is written out. */
interface CallersApi {
  /** Without their columns. */
  readonly resources: readonly DescribedResource[];
  /** What the document with these of the resources alone is made of. `maxWaitMs`: for what the programs of handlers report. */
  orderOf(shown: readonly DescribedResource[], maxWaitMs?: number): Promise<DocumentOrder>;
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
    orderOf: async (shown, maxWaitMs) => ({
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
