import { basePathOf } from '../../base/paths.ts';
import { grantsCover, loadGrants } from '../../accounts/rights/permissions.ts';
import type { Caller } from '../../accounts/rights/principal.ts';
import { DOCROOT_BOUNDARY } from '../../accounts/rights/resource-names.ts';
import { SharedWork } from '../../base/scheduling/shared-work.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import { mayUseEvents } from '../../operations/events/event-access.ts';
import type { DescribedResource } from '../../operations/files/resources.ts';
import { describeResources, usableResources } from '../../operations/files/resources.ts';
import { type DocumentOrder, openApiDocument, openApiText } from './document.ts';
import { standalonePaths } from './handler-paths.ts';
import type { JsonObject } from './models.ts';
import type { Route, ServerServices } from '../../http/context.ts';

export interface ApiDescription {
  /** JSON text in UTF-8, in pieces. */
  readonly pieces: readonly Uint8Array[];
  readonly etag: string;
}

/** A shorter answer is sent whole. */
const PIECE = 256 * 1024;

const descriptions = new WeakMap<ServerServices, SharedWork<ApiDescription>>();

/** With one of the tags, or all. A few milliseconds for a hundred resources; works in slices for thousands. */
export function describeApi(
  services: ServerServices,
  caller: Caller,
  tags: readonly string[] | null,
): Promise<ApiDescription> {
  let work = descriptions.get(services);
  if (work === undefined) descriptions.set(services, (work = new SharedWork()));
  return work.get(JSON.stringify([caller, tags]), () => describe(services, caller, tags));
}

async function describe(
  services: ServerServices,
  caller: Caller,
  tags: readonly string[] | null,
): Promise<ApiDescription> {
  const api = await callersApi(services, caller);
  const wanted = api.resources.filter(({ resource }) => tags?.includes(resource.type) ?? true);
  const order = { ...(await api.orderOf(await describeResources(services, wanted))), tags };
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
  /** `maxWaitMs` bounds the wait for handlers. */
  orderOf(shown: readonly DescribedResource[], maxWaitMs?: number): Promise<DocumentOrder>;
}

/** Asks no disk and no program of a handler. */
export async function callersApi(services: ServerServices, caller: Caller): Promise<CallersApi> {
  const grants = await loadGrants(services.db, caller);
  const resources = caller === null ? [] : usableResources(services, grants);
  const readsMedia = resources.some(
    ({ resource, mayRead }) => mayRead && resource.family === 'media',
  );
  const mayUpload =
    services.config.upload.enabled && grantsCover(grants, [DOCROOT_BOUNDARY], 'write');
  const usesEvents = caller !== null && (await mayUseEvents(services, caller));
  const routes = await routesThatAreOn(services);
  return {
    resources,
    orderOf: async (shown, maxWaitMs) => ({
      routes,
      viewer: { caller, grants, readsMedia, mayUpload, usesEvents },
      basePath: basePathOf(services.config.public_url),
      resources: shown,
      tags: null,
      handlerPaths: await pathsOfHandlers(services, shown, maxWaitMs),
    }),
  };
}

/** As for an empty document root, a superuser and everything switched on. */
export function hostedDocument(routes: readonly Route[]): JsonObject {
  return openApiDocument({
    routes,
    viewer: null,
    basePath: '',
    resources: [],
    tags: null,
    handlerPaths: new Map(),
  });
}

async function routesThatAreOn(services: ServerServices): Promise<Route[]> {
  const { routes } = services;
  const answers = await Promise.all(routes.map(({ rules }) => rules.isOn?.(services) ?? true));
  return routes.filter(
    ({ rules }, index) => answers[index] && (rules.isListed?.(services) ?? true),
  );
}

async function pathsOfHandlers(
  { handlers: hosts }: ServerServices,
  resources: readonly DescribedResource[],
  maxWaitMs: number | undefined,
): Promise<Map<DescribedResource, JsonObject>> {
  const handlers = resources.filter(({ resource }) => resource.type === 'handler');
  const late = maxWaitMs === undefined ? [] : [Bun.sleep(maxWaitMs).then(() => null)];
  const reported = await Promise.all(
    handlers.map(async (one) => {
      const schema = hosts.schema(one.resource.rel);
      return [one, await Promise.race([schema, ...late])] as const;
    }),
  );
  return new Map(
    reported.flatMap(([one, schema]) => {
      const paths = schema && standalonePaths(schema);
      return paths === null ? [] : [[one, paths]];
    }),
  );
}
