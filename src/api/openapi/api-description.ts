import { grantsCover, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller } from '../../accounts/rights/principal.ts';
import { DOCROOT_BOUNDARY } from '../../accounts/rights/resource-names.ts';
import { TimeSlice } from '../../base/work/time-slice.ts';
import { mayUseEvents } from '../../operations/event-access.ts';
import type { DescribedResource, DescribeServices } from '../../operations/resources.ts';
import { describeResources, usableResources } from '../../operations/resources.ts';
import type { ServerServices } from '../../http/dependencies.ts';
import type { Route } from '../../http/route.ts';
import { type DocumentOrder, openApiDocument, openApiText } from './document.ts';
import type { JsonObject } from './models.ts';

export interface ApiDescription {
  /** JSON text in UTF-8, in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** Without quotes; equal for equal documents. */
  readonly etag: string;
}

export interface ApiSources {
  readonly app: DescribeServices;
  readonly services: ServerServices;
  readonly routes: readonly Route[];
  /** Path items below the handler's own address; null when its program reports none. */
  handlerPaths(described: DescribedResource): Promise<JsonObject | null>;
}

/** Characters of a piece: a shorter answer is sent whole. */
const PIECE = 256 * 1024;

/** Takes a few milliseconds for a hundred resources; works in slices for thousands. */
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

interface CallersApi {
  /** Without their columns. */
  readonly resources: readonly DescribedResource[];
  /** The input of a document with only these resources. `maxWaitMs` bounds the wait for the programs of handlers. */
  orderOf(shown: readonly DescribedResource[], maxWaitMs?: number): Promise<DocumentOrder>;
}

/** Asks no disk and no program of a handler. */
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

/** For an empty document root, a superuser and everything switched on: the document that is published. */
export function hostedDocument(routes: readonly Route[]): JsonObject {
  return openApiDocument({ routes, viewer: null, resources: [], handlerPaths: new Map() });
}

async function routesThatAreOn(
  routes: readonly Route[],
  services: ServerServices,
): Promise<Route[]> {
  const answers = await Promise.all(routes.map(({ rules }) => rules.isOn?.(services) ?? true));
  return routes.filter(
    ({ rules }, index) => answers[index] && (rules.isListed?.(services) ?? true),
  );
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
